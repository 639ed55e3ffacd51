import MachineInterface
import MatterModel
import MatterSimulator
import MatterTLV
import Testing

@testable import HomeTestKit
@testable import MatterController

/// What the data model adds to a refusal, which is only a number.
@Suite struct RefusalHintTests {
    private static let setpoint = AttributePath(1, Thermostat.id, Thermostat.Attributes.occupiedHeatingSetpoint)

    @Test func whatCanOnlyBeReadIsSaidToBe() {
        let onOff = AttributePath(1, OnOff.id, OnOff.Attributes.onOff)
        #expect(
            RefusalHint.write(onOff, .boolean(true), .unsupportedWrite)
                == " (it can only be read; commands change it: hearth model OnOff)")
        let measured = AttributePath(1, TemperatureMeasurement.id, TemperatureMeasurement.Attributes.measuredValue)
        #expect(RefusalHint.write(measured, .signed(2100), .unsupportedWrite) == " (it can only be read)")
    }

    /// 22 for 22.00 °C is the mistake that everybody makes once.
    @Test func aValueIsShownAsItWasSentWithItsUnit() {
        #expect(RefusalHint.write(Self.setpoint, .signed(22), .constraintError) == " (0.22 °C was sent)")
        let level = AttributePath(1, LevelControl.id, LevelControl.Attributes.onLevel)
        let plain = RefusalHint.write(level, .unsigned(255), .constraintError)
        #expect(plain.contains("was sent, allowed is "), "\(plain)")
    }

    @Test func fieldsOfACommandAreNamedWhereTheModelSaysSomethingOfThem() {
        let path = CommandPath(1, LevelControl.id, LevelControl.Commands.moveToLevel)
        let fields = TLVValue.structure([
            TLVElement(.context(0), .unsigned(255)), TLVElement(.context(1), .unsigned(20)), TLVElement(.context(2), .unsigned(0)),
        ])
        let hint = RefusalHint.invoke(path, fields, .constraintError)
        // Twenty deciseconds, and an option that nobody has set.
        #expect(hint == " (Level 255 (100.4 %) was sent, allowed is max 254; TransitionTime 2.0 s was sent)")
        // A field that was not sent is not told of, unless that may be the reason.
        let short = RefusalHint.invoke(path, .structure([TLVElement(.context(0), .unsigned(255))]), .constraintError)
        #expect(short == " (Level 255 (100.4 %) was sent, allowed is max 254)")
        let lacking = RefusalHint.invoke(path, .structure([TLVElement(.context(0), .unsigned(3))]), .invalidCommand)
        #expect(lacking == " (TransitionTime is missing; OptionsMask is missing; OptionsOverride is missing)")
        // What the model allows is not the reason.
        let right = RefusalHint.invoke(path, .structure([TLVElement(.context(0), .unsigned(3))]), .constraintError)
        #expect(right == "")
    }

    @Test func nothingIsAddedWhereNothingIsKnown() {
        #expect(RefusalHint.write(Self.setpoint, .signed(22), .busy) == "")
        #expect(RefusalHint.write(AttributePath(1, 0xFFF1_FC05, 0), .signed(22), .constraintError) == "")
        #expect(RefusalHint.write(AttributePath(1, Thermostat.id, 0xFFF1_0000), .signed(22), .constraintError) == "")
        let move = CommandPath(1, LevelControl.id, LevelControl.Commands.moveToLevel)
        let fields = TLVValue.structure([TLVElement(.context(0), .unsigned(255))])
        #expect(RefusalHint.invoke(move, fields, .busy) == "")
        #expect(RefusalHint.invoke(move, .null, .constraintError) == "")
        #expect(RefusalHint.invoke(CommandPath(1, 0xFFF1_FC05, 0), fields, .constraintError) == "")
        // A number without unit or limit says no more than what was typed.
        let label = AttributePath(1, OnOff.id, OnOff.Attributes.startUpOnOff)
        #expect(RefusalHint.write(label, .unsigned(9), .constraintError) == "")
    }

    /// In the answers themselves, which is where people read it.
    @Test func answersHaveIt() async throws {
        let devices = [
            DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0101])]),
            DeviceProfile(name: "heating", endpoints: [.init(1, deviceTypes: [0x0301])]),
        ]
        try await VirtualHome.run(devices[0], devices[1]) { home in
            try await home.pairAll()
            let verbs = ControllerVerbs(home.controller, discovery: home.discovery)
            func refusal(_ request: ControllerRequest) async -> String {
                do throws(MachineError) {
                    _ = try await verbs.perform(request)
                    return "it was accepted"
                } catch {
                    return error.message
                }
            }
            let written = await refusal(
                .write(device: "heating", path: Self.setpoint, value: .signed(22), timing: .untimed))
            #expect(written == "heating refused the write of Thermostat.OccupiedHeatingSetpoint: CONSTRAINT_ERROR (0.22 °C was sent)")
            let invoked = await refusal(
                .invoke(
                    device: "lamp", path: CommandPath(1, LevelControl.id, LevelControl.Commands.moveToLevel),
                    fields: .structure([
                        TLVElement(.context(0), .unsigned(255)), TLVElement(.context(1), .null),
                        TLVElement(.context(2), .unsigned(0)), TLVElement(.context(3), .unsigned(0)),
                    ]), timing: .untimed))
            #expect(invoked == "lamp refused MoveToLevel: CONSTRAINT_ERROR (Level 255 (100.4 %) was sent, allowed is max 254)")
        }
    }
}
