import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Schedules, and users whose rights depend on time, place or use.
@Suite struct DoorLockScheduleTests {
    typealias Spec = DoorLock
    typealias Ids = DoorLock.Attributes

    static func week(
        _ index: UInt8 = 1, user: UInt16 = 1, days: Spec.DaysMaskBitmap = .sunday, from start: (UInt8, UInt8) = (15, 16),
        to end: (UInt8, UInt8) = (18, 0)
    ) -> Spec.SetWeekDaySchedule {
        Spec.SetWeekDaySchedule(
            weekDayIndex: index, userIndex: user, daysMask: days, startHour: start.0, startMinute: start.1, endHour: end.0, endMinute: end.1
        )
    }
    static func year(_ index: UInt8 = 1, user: UInt16 = 1, _ start: UInt32 = 12345, _ end: UInt32 = 12_345_689) -> Spec.SetYearDaySchedule {
        Spec.SetYearDaySchedule(yearDayIndex: index, userIndex: user, localStartTime: start, localEndTime: end)
    }
    static func holiday(
        _ index: UInt8 = 1, _ start: UInt32 = 12345, _ end: UInt32 = 12_345_689, _ mode: Spec.OperatingModeEnum = .vacation
    ) -> Spec.SetHolidaySchedule {
        Spec.SetHolidaySchedule(holidayIndex: index, localStartTime: start, localEndTime: end, operatingMode: mode)
    }
    static func weekStatus(_ bench: Bench, _ index: UInt8 = 1, user: UInt16 = 1) throws -> StatusCode {
        let answer = try bench.invoke(Spec.GetWeekDaySchedule(weekDayIndex: index, userIndex: user))
        #expect(answer.weekDayIndex == index && answer.userIndex == user)
        #expect((answer.daysMask == nil) == (answer.status != .success))
        return answer.status
    }
    static func yearStatus(_ bench: Bench, _ index: UInt8 = 1, user: UInt16 = 1) throws -> StatusCode {
        let answer = try bench.invoke(Spec.GetYearDaySchedule(yearDayIndex: index, userIndex: user))
        #expect((answer.localStartTime == nil) == (answer.status != .success))
        return answer.status
    }
    static func holidayStatus(_ bench: Bench, _ index: UInt8 = 1) throws -> StatusCode {
        try bench.invoke(Spec.GetHolidaySchedule(holidayIndex: index)).status
    }

    static let home = Locks.configuration(users: [Locks.user("Home", pins: ["123456"])])

    @Test func weekDaySchedulesAreChecked() async throws {
        try await Locks.run(Self.home) { bench in
            let refused: [Spec.SetWeekDaySchedule] = [
                Self.week(0), Self.week(11), Self.week(user: 0), Self.week(user: 11), Self.week(days: []),
                Self.week(days: Spec.DaysMaskBitmap(rawValue: 0x80)), Self.week(from: (24, 16)), Self.week(from: (15, 60)),
                Self.week(from: (15, 16), to: (24, 0)),
                Self.week(from: (15, 16), to: (18, 60)), Self.week(from: (19, 16)), Self.week(from: (15, 50), to: (15, 49)),
                Self.week(from: (15, 50), to: (15, 50)),
            ]
            for request in refused { #expect(status { _ = try bench.invoke(request) } == .invalidCommand, "\(request)") }
            #expect(status { _ = try bench.invoke(Self.week(user: 2)) } == .failure, "there is no such user")
            #expect(try Self.weekStatus(bench) == .notFound)
            #expect(try Self.weekStatus(bench, 0) == .invalidCommand)
            #expect(try Self.weekStatus(bench, 11) == .invalidCommand)
            #expect(try Self.weekStatus(bench, user: 0) == .invalidCommand)
            #expect(try Self.weekStatus(bench, user: 11) == .invalidCommand)
            #expect(try Self.weekStatus(bench, user: 2) == .notFound)
            try bench.invoke(Self.week(days: [.sunday, .wednesday, .saturday]))
            let found = try bench.invoke(Spec.GetWeekDaySchedule(weekDayIndex: 1, userIndex: 1))
            #expect(found.daysMask == [.sunday, .wednesday, .saturday])
            #expect([found.startHour, found.startMinute, found.endHour, found.endMinute] == [15, 16, 18, 0])
            let change = try #require(try Locks.changes(bench).last)
            #expect(change.lockDataType == .weekDaySchedule)
            #expect(change.dataOperationType == .add)
            #expect(change.dataIndex == 1)
            #expect(status { _ = try bench.invoke(Spec.ClearWeekDaySchedule(weekDayIndex: 0, userIndex: 1)) } == .invalidCommand)
            #expect(status { _ = try bench.invoke(Spec.ClearWeekDaySchedule(weekDayIndex: 11, userIndex: 1)) } == .invalidCommand)
            #expect(status { _ = try bench.invoke(Spec.ClearWeekDaySchedule(weekDayIndex: 1, userIndex: 11)) } == .invalidCommand)
            #expect(status { _ = try bench.invoke(Spec.ClearWeekDaySchedule(weekDayIndex: 1, userIndex: 2)) } == .failure)
            #expect(try Self.weekStatus(bench) == .success)
        }
    }

    @Test func yearDayAndHolidaySchedulesAreChecked() async throws {
        try await Locks.run(Self.home) { bench in
            let refused = [Self.year(0), Self.year(11), Self.year(user: 0), Self.year(user: 11), Self.year(1, 9, 8), Self.year(1, 8, 8)]
            for request in refused { #expect(status { _ = try bench.invoke(request) } == .invalidCommand, "\(request)") }
            #expect(status { _ = try bench.invoke(Self.year(user: 2)) } == .failure)
            #expect(try Self.yearStatus(bench) == .notFound)
            #expect(try Self.yearStatus(bench, 11) == .invalidCommand)
            #expect(try Self.yearStatus(bench, user: 2) == .notFound)
            try bench.invoke(Self.year())
            let found = try bench.invoke(Spec.GetYearDaySchedule(yearDayIndex: 1, userIndex: 1))
            #expect(found.localStartTime == 12345)
            #expect(found.localEndTime == 12_345_689)
            #expect(status { _ = try bench.invoke(Spec.ClearYearDaySchedule(yearDayIndex: 1, userIndex: 2)) } == .failure)
            let noHolidays = [
                Self.holiday(0), Self.holiday(11), Self.holiday(1, 9, 8), Self.holiday(1, 1, 2, Spec.OperatingModeEnum(rawValue: 5)),
            ]
            for request in noHolidays { #expect(status { _ = try bench.invoke(request) } == .invalidCommand, "\(request)") }
            #expect(try Self.holidayStatus(bench) == .notFound)
            #expect(try Self.holidayStatus(bench, 0) == .invalidCommand)
            try bench.invoke(Self.holiday())
            let holiday = try bench.invoke(Spec.GetHolidaySchedule(holidayIndex: 1))
            #expect(holiday.operatingMode == .value(.vacation))
            #expect(holiday.localEndTime == .value(12_345_689))
            try bench.invoke(Spec.ClearHolidaySchedule(holidayIndex: 0xFE))
            #expect(try Self.holidayStatus(bench) == .notFound)
            #expect(try Locks.changes(bench).last?.dataIndex == 0xFE)
        }
    }

    @Test func clearingOneKindLeavesTheOther() async throws {
        try await Locks.run(Self.home) { bench in
            for index in 1...2 as ClosedRange<UInt8> {
                try bench.invoke(Self.week(index))
                try bench.invoke(Self.year(index))
            }
            try bench.invoke(Spec.ClearWeekDaySchedule(weekDayIndex: 1, userIndex: 1))
            #expect(try Self.weekStatus(bench, 1) == .notFound)
            #expect(try Self.weekStatus(bench, 2) == .success)
            try bench.invoke(Spec.ClearWeekDaySchedule(weekDayIndex: 0xFE, userIndex: 1))
            #expect(try Self.weekStatus(bench, 2) == .notFound)
            #expect(try Self.yearStatus(bench, 1) == .success)
            try Locks.restart(bench, Self.home)
            #expect(try Self.yearStatus(bench, 2) == .success)
            try bench.invoke(Spec.ClearUser(userIndex: 0xFFFE))
            try bench.invoke(DoorLockUserTests.set(.add, 1))
            #expect(try Self.yearStatus(bench, 1) == .notFound, "schedules go with their user")
        }
    }

    @Test func restrictedUsersComeInTheirTimeOnly() async throws {
        // The bench begins on 2026-01-01 at midnight, a Thursday.
        let configuration = Locks.configuration(users: [Locks.user("Maid", pins: ["123456"], type: .scheduleRestrictedUser)])
        try await Locks.run(configuration) { bench in
            func mayEnter() throws -> Bool { status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456"))) } == nil }
            #expect(try !mayEnter(), "without a schedule it is never the time")
            try bench.invoke(Self.week(days: [.thursday, .friday], from: (9, 0), to: (11, 30)))
            #expect(try !mayEnter())
            #expect(try Locks.errors(bench).last?.operationError == .restricted)
            #expect(try Locks.errors(bench).last?.userIndex == 1)
            try await bench.advance(.seconds(9 * 3600))
            #expect(try mayEnter())
            try await bench.advance(.seconds(2 * 3600 + 29 * 60 + 59))
            #expect(try mayEnter())
            try await bench.advance(.seconds(31))
            #expect(try !mayEnter(), "half a minute after the end")
            try await bench.advance(.seconds(22 * 3600 + 30))
            #expect(try mayEnter(), "Friday")
            try await bench.advance(.seconds(24 * 3600))
            #expect(try !mayEnter(), "Saturday")
            // 2026-01-03 as seconds since 2000.
            let day: UInt32 = 820_713_600
            try bench.invoke(Spec.ClearWeekDaySchedule(weekDayIndex: 0xFE, userIndex: 1))
            try bench.invoke(Self.year(1, day, day + 86400))
            #expect(try mayEnter())
            try await bench.advance(.seconds(24 * 3600))
            #expect(try !mayEnter())
            #expect(try Locks.alarms(bench) == [], "a right code at the wrong time is no wrong code")
        }
    }

    @Test func holidaysChangeTheOperatingModeAndGiveItBack() async throws {
        try await Locks.run(Self.home) { bench in
            func mode() throws -> UInt64? { try bench.read(Spec.id, Ids.operatingMode).unsigned }
            // 2026-01-01 as seconds since 2000.
            let now: UInt32 = 820_540_800
            try bench.invoke(Self.holiday(1, now + 3600, now + 7200, .noRemoteLockUnlock))
            #expect(try mode() == 0)
            try await bench.advance(.seconds(3600))
            #expect(try mode() == 3)
            #expect(status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: nil)) } == .failure)
            try Locks.restart(bench, Self.home)
            #expect(try mode() == 3)
            try await bench.advance(.seconds(3600))
            #expect(try mode() == 0)
            try bench.invoke(Self.holiday(2, now, now + 86400, .vacation))
            #expect(try mode() == 1, "it has begun already")
            let cluster = try Locks.cluster(bench)
            #expect(!cluster.enter(.unlock, pin: "123456"), "in vacation the keypad is shut")
            try bench.invoke(Spec.ClearHolidaySchedule(holidayIndex: 2))
            #expect(try mode() == 0)
            #expect(cluster.enter(.unlock, pin: "123456"))
        }
    }

    @Test func aScheduleUntilTheLastMinuteEndsWithTheDay() async throws {
        let configuration = Locks.configuration(users: [Locks.user("Maid", pins: ["123456"], type: .scheduleRestrictedUser)])
        try await Locks.run(configuration) { bench in
            func mayEnter() throws -> Bool { status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456"))) } == nil }
            try bench.invoke(Self.week(days: .thursday, from: (9, 0), to: (23, 59)))
            try await bench.advance(.seconds(86399))
            #expect(try mayEnter())
            try await bench.advance(.seconds(1))
            #expect(try !mayEnter())
        }
    }

    @Test func aHolidayHasNoModeThatTheLockDoesNotSupport() async throws {
        // Normal and no remote lock and unlock.
        let configuration = Locks.configuration(Locks.all, [Ids.supportedOperatingModes: .unsigned(0xFFF6)])
        try await Locks.run(configuration) { bench in
            for mode in [Spec.OperatingModeEnum.vacation, .privacy, .passage] {
                #expect(status { _ = try bench.invoke(Self.holiday(1, 1, .max, mode)) } == .invalidCommand)
            }
            #expect(try Self.holidayStatus(bench) == .notFound)
            #expect(try bench.read(Spec.id, Ids.operatingMode).unsigned == 0)
            try bench.invoke(Self.holiday(1, 1, .max, .noRemoteLockUnlock))
            #expect(try bench.read(Spec.id, Ids.operatingMode).unsigned == 3)
        }
    }

    @Test func usersWhoseRightsChangeByUse() async throws {
        let users = [
            Locks.user("Once", pins: ["111111"], type: .disposableUser), Locks.user("Day", pins: ["222222"], type: .expiringUser),
            Locks.user("Bell", pins: ["333333"], type: .nonAccessUser), Locks.user("Duress", pins: ["444444"], type: .forcedUser),
            Locks.user("Afar", pins: ["555555"], type: .remoteOnlyUser),
            Locks.user("Two", pins: ["666666"], rfids: ["second_factor"], rule: .dual),
        ]
        let configuration = Locks.configuration(Locks.all, [Ids.expiringUserTimeout: .unsigned(60)], users: users)
        try await Locks.run(configuration) { bench in
            func unlock(_ pin: String) -> StatusCode? { status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code(pin))) } }
            let cluster = try Locks.cluster(bench)
            #expect(unlock("111111") == nil)
            #expect(unlock("111111") == .failure, "once is once")
            #expect(try Locks.errors(bench).last?.operationError == .disabledUserDenied)
            #expect(try bench.invoke(Spec.GetUser(userIndex: 1)).userStatus == .value(.occupiedDisabled))
            #expect(unlock("222222") == nil)
            try await bench.advance(.seconds(3599))
            #expect(unlock("222222") == nil)
            try await bench.advance(.seconds(1))
            #expect(unlock("222222") == .failure, "an hour after the first time")
            try bench.invoke(Spec.LockDoor(pinCode: nil))
            #expect(unlock("333333") == .failure)
            #expect(try Locks.state(bench) == .locked)
            #expect(try Locks.operations(bench).last?.lockOperationType == .nonAccessUserEvent)
            #expect(unlock("444444") == nil)
            #expect(try Locks.operations(bench).last?.lockOperationType == .forcedUserEvent)
            #expect(try Locks.alarms(bench) == [.forcedUser])
            #expect(!cluster.enter(.lock, pin: "555555"))
            #expect(unlock("555555") == nil)
            try bench.invoke(Spec.LockDoor(pinCode: nil))
            #expect(!cluster.enter(.unlock, pin: "666666"), "one of two")
            #expect(cluster.present(.unlock, rfid: Locks.code("second_factor")))
            #expect(try Locks.operations(bench).last?.credentials?.value?.count == 2)
            #expect(!cluster.enter(.lock, pin: "666666"))
            try await bench.advance(.seconds(30))
            #expect(!cluster.present(.lock, rfid: Locks.code("second_factor")), "too late")
        }
    }

    @Test func expiryAndRelockSurviveTheRestart() async throws {
        let configuration = Locks.configuration(
            Locks.all, [Ids.expiringUserTimeout: .unsigned(1), Ids.autoRelockTime: .unsigned(20)],
            users: [Locks.user("Day", pins: ["222222"], type: .expiringUser)])
        try await Locks.run(configuration) { bench in
            try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("222222")))
            try Locks.restart(bench, configuration)
            #expect(try Locks.state(bench) == .unlocked)
            try await bench.advance(.seconds(20))
            #expect(try Locks.state(bench) == .locked)
            try await bench.advance(.seconds(40))
            #expect(try bench.invoke(Spec.GetUser(userIndex: 1)).userStatus == .value(.occupiedDisabled))
        }
    }

    @Test func locksWithoutUsersKeepTheirCodesInSlots() async throws {
        let configuration = Locks.configuration([.pinCredential, .rfidCredential], [Ids.sendPINOverTheAir: .boolean(true)])
        try await Locks.run(configuration) { bench in
            func set(_ index: UInt16, _ pin: String) -> Spec.SetPINCode {
                Spec.SetPINCode(userID: index, userStatus: .value(.occupiedEnabled), userType: .null, pin: Locks.code(pin))
            }
            try bench.invoke(set(1, "123456"))
            #expect(status { _ = try bench.invoke(set(0, "123457")) } == .invalidCommand)
            #expect(status { _ = try bench.invoke(set(11, "123457")) } == .invalidCommand)
            #expect(status { _ = try bench.invoke(set(2, "12345")) } == .invalidCommand)
            #expect(status { _ = try bench.invoke(set(2, "123456")) } == .failure)
            #expect(try bench.invoke(Spec.GetPINCode(userID: 1)).pinCode == .value(Locks.code("123456")))
            #expect(try bench.invoke(Spec.GetPINCode(userID: 2)).userStatus == .value(.available))
            try bench.write(Spec.id, Ids.sendPINOverTheAir, false)
            #expect(try bench.invoke(Spec.GetPINCode(userID: 1)).pinCode == .null)
            try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456")))
            #expect(try Locks.state(bench) == .unlocked)
            let operation = try #require(try Locks.operations(bench).last)
            #expect(operation.userIndex == 1)
            #expect(operation.credentials == nil, "credentials belong to locks with users")
            try bench.invoke(Spec.SetUserStatus(userID: 1, userStatus: .occupiedDisabled))
            #expect(status { _ = try bench.invoke(Spec.LockDoor(pinCode: Locks.code("123456"))) } == .failure)
            #expect(try bench.invoke(Spec.GetUserStatus(userID: 1)).userStatus == .occupiedDisabled)
            try bench.invoke(Spec.SetUserType(userID: 1, userType: .remoteOnlyUser))
            #expect(try bench.invoke(Spec.GetUserType(userID: 1)).userType == .remoteOnlyUser)
            try bench.invoke(
                Spec.SetRFIDCode(userID: 3, userStatus: .null, userType: .null, rfidCode: Locks.code("a_tag_of_slot_3")))
            #expect(try bench.invoke(Spec.GetRFIDCode(userID: 3)).rfidCode == .value(Locks.code("a_tag_of_slot_3")))
            #expect(try Locks.cluster(bench).present(.lock, rfid: Locks.code("a_tag_of_slot_3")))
            try bench.invoke(Spec.ClearPINCode(pinSlotIndex: 1))
            #expect(try bench.invoke(Spec.GetPINCode(userID: 1)).userStatus == .value(.available))
            try bench.invoke(Spec.ClearAllRFIDCodes())
            #expect(try bench.invoke(Spec.GetRFIDCode(userID: 3)).userStatus == .value(.available))
        }
    }
}
