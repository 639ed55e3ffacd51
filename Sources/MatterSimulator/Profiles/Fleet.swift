import MatterModel

/// Devices that belong together: a home's, with names and rooms. Read from a YAML file.
public struct Fleet: Sendable {
    /// One device of the fleet.
    public struct Member: Sendable {
        public var profile: DeviceProfile
        public var name: String
        public var room: String?
    }

    /// Devices of a fleet, at most: each has a port of its own.
    static let maximumDevices = 60_000

    public var name: String
    public var members: [Member]
    /// What is wrong with the file, and with the profiles that it names. The members that have no mistake can be used.
    public var errors: [ProfileError]

    /// An item of the file's list: one device, or several that are numbered.
    private struct Entry {
        var place: String
        var line: Int
        var reference: (node: YAMLNode, path: String)
        var profileName: String
        /// Nil leaves the name to the profile.
        var name: (text: String, node: YAMLNode, path: String)?
        var room: String?
        var count: Int

        func names(_ base: String) -> [String] { count == 1 ? [base] : (1...count).map { "\(base)-\($0)" } }
    }

    /// Reads a fleet file. A mistake in one member leaves the others; a mistake in the file itself is thrown.
    static func read(_ text: [UInt8], file: String, library: ProfileLibrary) throws(ProfileErrors) -> Fleet {
        let node: YAMLNode
        do throws(ProfileError) { node = try YAMLParser.parse(text, file: file) } catch { throw ProfileErrors(errors: [error]) }
        let context = ProfileContext(file: file)
        guard let top = context.mapping(node, "") else { throw ProfileErrors(errors: context.sortedErrors) }
        let name = context.text(top.take("name")) ?? ProfileReader.name(of: file)
        guard let devices = top.take("devices") else {
            if top.take("endpoints") == nil {
                top.missing("devices", message: "'devices' is missing: a list of devices is expected")
                top.finish()
            } else {
                context.report(node, "", "this is a profile and no fleet: hearth simulate \(file)")
            }
            throw ProfileErrors(errors: context.sortedErrors)
        }
        guard let items = context.sequence(devices.node, devices.path) else { throw ProfileErrors(errors: context.sortedErrors) }
        top.finish()
        var room = maximumDevices
        let entries = items.compactMap { entry($0.node, $0.path, &room, context) }
        var reader = ProfilesOfFleet(file: file, library: library)
        var names = NamesOfFleet()
        let given = entries.map { entry in entry.name.map { names.reserve($0, entry.names($0.text), entry.place, entry.line, context) } }
        var fleet = Fleet(name: name, members: [], errors: [])
        for (entry, given) in zip(entries, given) {
            guard let profile = reader.profile(entry.profileName, entry.reference, context) else { continue }
            for name in given ?? entry.names(profile.name).map({ names.free($0) }) {
                fleet.members.append(Member(profile: profile, name: name, room: entry.room))
            }
        }
        fleet.errors = context.sortedErrors + reader.errors
        return fleet
    }

    /// Nil when there is a mistake in it: the device is not launched as something that it was not meant to be.
    /// - Parameter room: how many devices there may still be.
    private static func entry(_ node: YAMLNode, _ path: String, _ room: inout Int, _ context: ProfileContext) -> Entry? {
        guard let mapping = context.mapping(node, path) else { return nil }
        let before = context.mistakes
        let reference = mapping.take("profile")
        if reference == nil { mapping.missing("profile", message: "'profile' is missing: the name or file of a profile is expected") }
        let named = mapping.take("name")
        let name = context.name(named, maximumBytes: 64)
        let place = context.text(mapping.take("room"), maximumBytes: 64)
        let counted = mapping.take("count")
        let count: Int = context.number(counted, in: 1...10_000, "a number of devices") ?? 1
        if count > room {
            context.report(
                counted?.node ?? node, counted?.path ?? path,
                "a fleet has at most \(maximumDevices) devices, and with \(count) more there would be \(maximumDevices - room + count)")
        }
        mapping.finish()
        guard let reference, let profileName = context.text(reference), context.mistakes == before else { return nil }
        room -= count
        return Entry(
            place: path, line: node.line, reference: reference, profileName: profileName,
            name: name.flatMap { text in named.map { (text, $0.node, $0.path) } }, room: place, count: count)
    }
}

/// Which names of a fleet are whose.
private struct NamesOfFleet {
    private var owners: [String: (place: String, line: Int)] = [:]
    private var names = DeviceNames()

    /// Names that the file gives. - Returns: those that nobody has; the first one that somebody has is reported.
    mutating func reserve(
        _ given: (text: String, node: YAMLNode, path: String), _ names: [String], _ place: String, _ line: Int, _ context: ProfileContext
    ) -> [String] {
        var isReported = false
        return names.filter { name in
            guard let owner = owners[name] else {
                owners[name] = (place, line)
                self.names.insert(name)
                return true
            }
            if !isReported {
                context.report(
                    given.node, given.path,
                    "'\(name)' is the name of \(owner.place) in line \(owner.line) already: a name of its own is expected")
            }
            isReported = true
            return false
        }
    }

    /// The name of a profile, which several devices may be made of: with a number where it is taken.
    mutating func free(_ base: String) -> String { names.free(base) }
}

/// Reads each profile of a fleet once, however many of its devices are made of it.
private struct ProfilesOfFleet {
    let file: String
    let library: ProfileLibrary
    /// Mistakes in the profiles' own files.
    private(set) var errors: [ProfileError] = []
    private var known: [String: Result<DeviceProfile, ProfileErrors>] = [:]

    init(file: String, library: ProfileLibrary) { (self.file, self.library) = (file, library) }

    mutating func profile(
        _ name: String, _ reference: (node: YAMLNode, path: String), _ context: ProfileContext
    ) -> DeviceProfile? {
        let isNew = known[name] == nil
        let result: Result<DeviceProfile, ProfileErrors>
        if let read = known[name] {
            result = read
        } else {
            do throws(ProfileErrors) { result = .success(try library.profile(name, relativeTo: file)) } catch { result = .failure(error) }
            known[name] = result
        }
        switch result {
        case .success(let profile): return profile
        case .failure(let failure):
            for error in failure.errors {
                // What is not about a line of the profile is about the reference: there is no such file, or it cannot be read.
                if error.line == 0 {
                    context.report(reference.node, reference.path, error.description)
                } else if isNew {
                    errors.append(error)
                }
            }
            return nil
        }
    }
}
