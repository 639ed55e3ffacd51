import MatterModel
import MatterTLV

/// A user of a lock (Matter Application Clusters, 5.2.10.32).
struct LockUser: Hashable {
    var name = ""
    var uniqueID: UInt32?
    var status = DoorLock.UserStatusEnum.occupiedEnabled
    var type = DoorLock.UserTypeEnum.unrestrictedUser
    var rule = DoorLock.CredentialRuleEnum.single
    /// Nil for users of the profile and of the keypad, 0 for those of fabrics that are gone.
    var creator: FabricIndex?
    var modifier: FabricIndex?
    /// In the order in which they were added.
    var credentials: [DoorLock.CredentialStruct] = []
    /// When an expiring user that has been here once is disabled; seconds of wall time since 1970.
    var expiry: UInt64?
}

/// What a credential consists of; its type and index are its key.
struct LockCredential: Hashable {
    var data: [UInt8]
    var user: UInt16
    var creator: FabricIndex?
    var modifier: FabricIndex?
}

/// The schedule of a user on days of the week, in minutes of the day; the end belongs to it only where it is 23:59.
struct WeekDaySchedule: Hashable {
    var days: DoorLock.DaysMaskBitmap
    var startHour, startMinute, endHour, endMinute: UInt8
}

/// A span in local seconds since 2000.
struct YearDaySchedule: Hashable {
    var start, end: UInt32
}

struct HolidaySchedule: Hashable {
    var start, end: UInt32
    var mode: DoorLock.OperatingModeEnum
}

/// Whose schedule, and which.
struct ScheduleKey: Hashable {
    var user: UInt16
    var index: UInt8
}

/// What a table keeps of an entry, so that a restart or a kill finds it again.
protocol LockRecord {
    var record: TLVValue { get }
    init?(record: TLVValue)
}

private func fields(_ values: TLVValue?...) -> TLVValue {
    .structure(values.enumerated().compactMap { tag, value in value.map { TLVElement(.context(UInt8(tag)), $0) } })
}

extension LockUser: LockRecord {
    var record: TLVValue {
        fields(
            name.tlv, uniqueID?.tlv, status.tlv, type.tlv, rule.tlv, creator?.tlv, modifier?.tlv, .array(credentials.map(\.tlv)),
            expiry?.tlv)
    }
    init?(record: TLVValue) {
        guard let name = record[0]?.text, let status = record[2].flatMap({ try? DoorLock.UserStatusEnum(tlv: $0) }),
            let type = record[3].flatMap({ try? DoorLock.UserTypeEnum(tlv: $0) }),
            let rule = record[4].flatMap({ try? DoorLock.CredentialRuleEnum(tlv: $0) }),
            let credentials = record[7].flatMap({ try? [DoorLock.CredentialStruct](tlv: $0) })
        else { return nil }
        self.init(
            name: name, uniqueID: record[1].flatMap { try? UInt32(tlv: $0) }, status: status, type: type, rule: rule,
            creator: record[5].flatMap { try? FabricIndex(tlv: $0) }, modifier: record[6].flatMap { try? FabricIndex(tlv: $0) },
            credentials: credentials, expiry: record[8]?.unsigned)
    }
}

extension LockCredential: LockRecord {
    var record: TLVValue { fields(.octets(data), user.tlv, creator?.tlv, modifier?.tlv) }
    init?(record: TLVValue) {
        guard case .octets(let data)? = record[0], let user = record[1].flatMap({ try? UInt16(tlv: $0) }) else { return nil }
        self.init(
            data: data, user: user, creator: record[2].flatMap { try? FabricIndex(tlv: $0) },
            modifier: record[3].flatMap { try? FabricIndex(tlv: $0) })
    }
}

extension WeekDaySchedule: LockRecord {
    var record: TLVValue { fields(days.tlv, startHour.tlv, startMinute.tlv, endHour.tlv, endMinute.tlv) }
    init?(record: TLVValue) {
        let numbers = (0..<5).compactMap { tag in record[UInt8(tag)].flatMap { try? UInt8(tlv: $0) } }
        guard numbers.count == 5 else { return nil }
        self.init(
            days: DoorLock.DaysMaskBitmap(rawValue: numbers[0]), startHour: numbers[1], startMinute: numbers[2],
            endHour: numbers[3],
            endMinute: numbers[4])
    }
}

extension YearDaySchedule: LockRecord {
    var record: TLVValue { fields(start.tlv, end.tlv) }
    init?(record: TLVValue) {
        guard let start = record[0].flatMap({ try? UInt32(tlv: $0) }), let end = record[1].flatMap({ try? UInt32(tlv: $0) })
        else {
            return nil
        }
        self.init(start: start, end: end)
    }
}

extension HolidaySchedule: LockRecord {
    var record: TLVValue { fields(start.tlv, end.tlv, mode.tlv) }
    init?(record: TLVValue) {
        guard let span = YearDaySchedule(record: record),
            let mode = record[2].flatMap({ try? DoorLock.OperatingModeEnum(tlv: $0) })
        else {
            return nil
        }
        self.init(start: span.start, end: span.end, mode: mode)
    }
}

/// A table that writes every change to the store before anyone hears of it.
struct LockTable<Key: Hashable & Sendable, Entry: LockRecord> {
    private(set) var entries: [Key: Entry]
    private let path: (Key) -> String
    private let keep: ([UInt8]?, String) -> Void

    /// - Parameters:
    ///   - names: the names under the prefix in the store.
    ///   - key: the key that a name, cut at its slashes, stands for.
    init(
        names: [String], path: @escaping (Key) -> String, key: ([UInt64]) -> Key?, load: (String) -> [UInt8]?,
        keep: @escaping ([UInt8]?, String) -> Void
    ) {
        (self.path, self.keep) = (path, keep)
        entries = [:]
        for name in names {
            let numbers = name.split(separator: "/").dropFirst().compactMap { UInt64($0) }
            guard let key = key(numbers), let bytes = load(name), let record = try? TLVValue(decoding: bytes),
                let entry = Entry(record: record)
            else { continue }
            entries[key] = entry
        }
    }

    subscript(key: Key) -> Entry? {
        get { entries[key] }
        set {
            entries[key] = newValue
            keep(newValue?.record.encoded(), path(key))
        }
    }

    var keys: [Key] { Array(entries.keys) }

    mutating func removeAll(where condition: (Key, Entry) -> Bool) {
        for (key, entry) in entries where condition(key, entry) { self[key] = nil }
    }
}
