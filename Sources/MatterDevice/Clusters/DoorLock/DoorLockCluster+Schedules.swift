import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

// MARK: - Schedules (Matter Application Clusters, 5.2.10.12 to 5.2.10.23)

extension DoorLockCluster {
    /// All schedules, in commands that clear.
    private static let allSchedules: UInt8 = 0xFE
    /// 2000-01-01 in seconds since 1970.
    private static let matterEpoch: UInt64 = 946_684_800

    /// Nil when the command is none of these.
    func runScheduleCommand(
        _ command: CommandID, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome? {
        typealias Commands = Spec.Commands
        switch command {
        case Commands.setWeekDaySchedule: try setWeekDay(Spec.SetWeekDaySchedule(tlv: fields), try author(context))
        case Commands.getWeekDaySchedule: return .reply(getWeekDay(try Spec.GetWeekDaySchedule(tlv: fields)))
        case Commands.clearWeekDaySchedule:
            let request = try Spec.ClearWeekDaySchedule(tlv: fields)
            let (index, user) = (request.weekDayIndex, request.userIndex)
            try checkClearing(index, Ids.numberOfWeekDaySchedulesSupportedPerUser, user)
            weekDays.removeAll { key, _ in key.user == user && (index == Self.allSchedules || key.index == index) }
            emitUserChange(.weekDaySchedule, .clear, user: user, data: UInt16(index), try author(context))
        case Commands.setYearDaySchedule: try setYearDay(Spec.SetYearDaySchedule(tlv: fields), try author(context))
        case Commands.getYearDaySchedule: return .reply(getYearDay(try Spec.GetYearDaySchedule(tlv: fields)))
        case Commands.clearYearDaySchedule:
            let request = try Spec.ClearYearDaySchedule(tlv: fields)
            let (index, user) = (request.yearDayIndex, request.userIndex)
            try checkClearing(index, Ids.numberOfYearDaySchedulesSupportedPerUser, user)
            yearDays.removeAll { key, _ in key.user == user && (index == Self.allSchedules || key.index == index) }
            emitUserChange(.yearDaySchedule, .clear, user: user, data: UInt16(index), try author(context))
        case Commands.setHolidaySchedule: try setHoliday(Spec.SetHolidaySchedule(tlv: fields), try author(context))
        case Commands.getHolidaySchedule: return .reply(getHoliday(try Spec.GetHolidaySchedule(tlv: fields).holidayIndex))
        case Commands.clearHolidaySchedule:
            let index = try Spec.ClearHolidaySchedule(tlv: fields).holidayIndex
            guard index == Self.allSchedules || isIndex(index, Ids.numberOfHolidaySchedulesSupported) else {
                throw Status(.invalidCommand, "HolidayIndex \(index)")
            }
            holidays.removeAll { key, _ in index == Self.allSchedules || key == index }
            emitUserChange(.holidaySchedule, .clear, user: nil, data: UInt16(index), try author(context))
            updateHoliday()
        default: return nil
        }
        return .success
    }

    private func isIndex(_ index: UInt8, _ most: AttributeID) -> Bool { index >= 1 && UInt64(index) <= limit(most) }

    /// Users have indices also where there is no user table, and then they are those of the PINs.
    private func isScheduleUser(_ index: UInt16) -> Bool { hasUsers ? isUserIndex(index) : slotIndices.contains(index) }

    private func check(_ index: UInt8, _ most: AttributeID, _ user: UInt16) throws(Status) {
        guard isIndex(index, most), isScheduleUser(user) else {
            throw Status(.invalidCommand, "schedule \(index) of user \(user)")
        }
        guard users[user] != nil else { throw Status(.failure, "there is no user \(user)") }
    }

    private func checkClearing(_ index: UInt8, _ most: AttributeID, _ user: UInt16) throws(Status) {
        try check(index == Self.allSchedules ? 1 : index, most, user)
    }

    private func setWeekDay(_ request: Spec.SetWeekDaySchedule, _ author: Author) throws(Status) {
        try check(request.weekDayIndex, Ids.numberOfWeekDaySchedulesSupportedPerUser, request.userIndex)
        let days = request.daysMask.rawValue
        guard days != 0, days & 0x80 == 0 else { throw Status(.invalidCommand, "DaysMask \(days)") }
        guard request.startHour < 24, request.endHour < 24, request.startMinute < 60, request.endMinute < 60,
            (request.startHour, request.startMinute) < (request.endHour, request.endMinute)
        else { throw Status(.invalidCommand, "the times") }
        weekDays[ScheduleKey(user: request.userIndex, index: request.weekDayIndex)] = WeekDaySchedule(
            days: request.daysMask, startHour: request.startHour, startMinute: request.startMinute, endHour: request.endHour,
            endMinute: request.endMinute)
        emitUserChange(.weekDaySchedule, .add, user: request.userIndex, data: UInt16(request.weekDayIndex), author)
    }

    private func getWeekDay(_ request: Spec.GetWeekDaySchedule) -> Spec.GetWeekDayScheduleResponse {
        let (index, user) = (request.weekDayIndex, request.userIndex)
        guard isIndex(index, Ids.numberOfWeekDaySchedulesSupportedPerUser), isScheduleUser(user) else {
            return Spec.GetWeekDayScheduleResponse(weekDayIndex: index, userIndex: user, status: .invalidCommand)
        }
        guard let found = weekDays[ScheduleKey(user: user, index: index)] else {
            return Spec.GetWeekDayScheduleResponse(weekDayIndex: index, userIndex: user, status: .notFound)
        }
        return Spec.GetWeekDayScheduleResponse(
            weekDayIndex: index, userIndex: user, status: .success, daysMask: found.days, startHour: found.startHour,
            startMinute: found.startMinute, endHour: found.endHour, endMinute: found.endMinute)
    }

    private func setYearDay(_ request: Spec.SetYearDaySchedule, _ author: Author) throws(Status) {
        try check(request.yearDayIndex, Ids.numberOfYearDaySchedulesSupportedPerUser, request.userIndex)
        guard request.localStartTime < request.localEndTime else { throw Status(.invalidCommand, "the times") }
        yearDays[ScheduleKey(user: request.userIndex, index: request.yearDayIndex)] = YearDaySchedule(
            start: request.localStartTime, end: request.localEndTime)
        emitUserChange(.yearDaySchedule, .add, user: request.userIndex, data: UInt16(request.yearDayIndex), author)
    }

    private func getYearDay(_ request: Spec.GetYearDaySchedule) -> Spec.GetYearDayScheduleResponse {
        let (index, user) = (request.yearDayIndex, request.userIndex)
        guard isIndex(index, Ids.numberOfYearDaySchedulesSupportedPerUser), isScheduleUser(user) else {
            return Spec.GetYearDayScheduleResponse(yearDayIndex: index, userIndex: user, status: .invalidCommand)
        }
        guard let found = yearDays[ScheduleKey(user: user, index: index)] else {
            return Spec.GetYearDayScheduleResponse(yearDayIndex: index, userIndex: user, status: .notFound)
        }
        return Spec.GetYearDayScheduleResponse(
            yearDayIndex: index, userIndex: user, status: .success, localStartTime: found.start, localEndTime: found.end)
    }

    private func setHoliday(_ request: Spec.SetHolidaySchedule, _ author: Author) throws(Status) {
        guard isIndex(request.holidayIndex, Ids.numberOfHolidaySchedulesSupported) else {
            throw Status(.invalidCommand, "HolidayIndex \(request.holidayIndex)")
        }
        guard request.localStartTime < request.localEndTime else { throw Status(.invalidCommand, "the times") }
        // OperatingMode would have the value, and only the supported ones are valid there (5.2.9.25).
        guard request.operatingMode.isDefined, supports(request.operatingMode) else {
            throw Status(.invalidCommand, "OperatingMode \(request.operatingMode)")
        }
        holidays[request.holidayIndex] = HolidaySchedule(
            start: request.localStartTime, end: request.localEndTime, mode: request.operatingMode)
        emitUserChange(.holidaySchedule, .add, user: nil, data: UInt16(request.holidayIndex), author)
        updateHoliday()
    }

    private func getHoliday(_ index: UInt8) -> Spec.GetHolidayScheduleResponse {
        guard isIndex(index, Ids.numberOfHolidaySchedulesSupported) else {
            return Spec.GetHolidayScheduleResponse(holidayIndex: index, status: .invalidCommand)
        }
        guard let found = holidays[index] else { return Spec.GetHolidayScheduleResponse(holidayIndex: index, status: .notFound) }
        return Spec.GetHolidayScheduleResponse(
            holidayIndex: index, status: .success, localStartTime: .value(found.start), localEndTime: .value(found.end),
            operatingMode: .value(found.mode))
    }

    // MARK: What they bring about

    /// Local seconds since 2000; 0 before that.
    private var localSeconds: UInt64 { wallSeconds < Self.matterEpoch ? 0 : wallSeconds - Self.matterEpoch }

    /// A schedule that ends here ends with the day (5.2.10.12.7).
    private static let lastMinute = 23 * 60 + 59

    /// Whether a user whose access is restricted may pass now: within one of the schedules of each kind that it has. Without any it
    /// may never.
    func isWithinSchedule(_ user: UInt16) -> Bool {
        let week = weekDays.entries.filter { $0.key.user == user }.map(\.value)
        let year = yearDays.entries.filter { $0.key.user == user }.map(\.value)
        guard !week.isEmpty || !year.isEmpty else { return false }
        let seconds = wallSeconds
        // 1970 began on a Thursday.
        let day = UInt8((seconds / 86400 + 4) % 7)
        let minute = Int(seconds % 86400 / 60)
        let inWeek = week.contains { schedule in
            let start = Int(schedule.startHour) * 60 + Int(schedule.startMinute)
            let end = Int(schedule.endHour) * 60 + Int(schedule.endMinute)
            return schedule.days.rawValue >> day & 1 == 1 && start <= minute && (minute < end || end == Self.lastMinute)
        }
        let inYear = year.contains { UInt64($0.start) <= localSeconds && localSeconds <= UInt64($0.end) }
        return (week.isEmpty || inWeek) && (year.isEmpty || inYear)
    }

    /// Enters or leaves the operating mode of a holiday, and sets the clock for the next change.
    func updateHoliday() {
        cancel(holidayTimer)
        holidayTimer = nil
        let now = localSeconds
        let active = holidays.entries.filter {
            UInt64($0.value.start) <= now && now < UInt64($0.value.end) && supports($0.value.mode)
        }.min { $0.key < $1.key }
        let before = kept("mode-before-holiday").flatMap { try? TLVValue(decoding: $0) }
        if let active {
            if before == nil { keep(value(Ids.operatingMode).encoded(), as: "mode-before-holiday") }
            setLasting(Ids.operatingMode, active.value.mode.tlv)
        } else if let before {
            keep(nil, as: "mode-before-holiday")
            setLasting(Ids.operatingMode, before)
        }
        let boundaries = holidays.entries.values.flatMap { [UInt64($0.start), UInt64($0.end)] }
        guard let next = boundaries.filter({ $0 > now }).min() else { return }
        let left = Duration.seconds(Int64(clamping: next + Self.matterEpoch)) - node.environment.wall
        holidayTimer = after(max(.zero, left)) { [weak self] in self?.updateHoliday() }
    }
}
