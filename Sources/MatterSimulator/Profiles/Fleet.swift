import MatterModel

/// Devices that belong together: a home's, with names and rooms. Read from a YAML file.
public struct Fleet: Sendable {
    /// One device of the fleet.
    public struct Member: Sendable {
        public var profile: DeviceProfile
        public var name: String
        public var room: String?
    }

    public var name: String
    public var members: [Member]
    /// Members that could not be read; the others can be used.
    public var errors: [ProfileError]

    /// Reads a fleet file. A mistake in one member leaves the others; a mistake in the file itself is thrown.
    static func read(
        _ text: [UInt8], file: String, profile: (String, _ from: String) throws -> DeviceProfile
    ) throws(ProfileErrors) -> Fleet {
        let node: YAMLNode
        do throws(ProfileError) { node = try YAMLParser.parse(text, file: file) } catch { throw ProfileErrors(errors: [error]) }
        let context = ProfileContext(file: file)
        guard let top = context.mapping(node, "") else { throw ProfileErrors(errors: context.errors) }
        var fleet = Fleet(name: context.text(top.take("name")) ?? ProfileReader.name(of: file), members: [], errors: [])
        guard let devices = top.take("devices"), let items = context.sequence(devices.node, devices.path) else {
            context.report(node, "", "'devices' is missing: a list of devices is expected")
            throw ProfileErrors(errors: context.errors)
        }
        top.finish()
        for item in items {
            guard let mapping = context.mapping(item.node, item.path) else { continue }
            let reference = mapping.take("profile")
            let name = context.name(mapping.take("name"), maximumBytes: 64)
            let room = context.text(mapping.take("room"), maximumBytes: 64)
            let count: Int = context.number(mapping.take("count"), in: 1...10_000, "a number of devices") ?? 1
            mapping.finish()
            guard let reference, let profileName = context.text(reference) else {
                context.report(item.node, item.path, "'profile' is missing: the name or file of a profile is expected")
                continue
            }
            do {
                let read = try profile(profileName, file)
                for number in 1...count {
                    let base = name ?? read.name
                    let unique = fleet.freeName(count == 1 ? base : "\(base)-\(number)")
                    fleet.members.append(Member(profile: read, name: unique, room: room))
                }
            } catch let errors as ProfileErrors {
                fleet.errors += errors.errors
            } catch {
                context.report(reference.node, reference.path, "\(error)")
            }
        }
        fleet.errors = context.errors + fleet.errors
        return fleet
    }

    private func freeName(_ base: String) -> String {
        var (name, number) = (base, 2)
        while members.contains(where: { $0.name == name }) {
            name = "\(base)-\(number)"
            number += 1
        }
        return name
    }
}
