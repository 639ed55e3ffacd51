import Glibc
import MatterModel

/// Finds profiles and fleets: by path, or by name in the folders that are searched.
public struct ProfileLibrary: Sendable {
    /// Folders in which a name is looked for, in order.
    public var folders: [String]

    public init(folders: [String]) { self.folders = folders }

    /// The folders where profiles usually are: `device-profiles` here, `$HEARTH_PROFILES`, beside the program, and where a package puts them.
    public static func standard() -> ProfileLibrary {
        var folders: [String] = []
        if let named = getenv("HEARTH_PROFILES") { folders.append(String(cString: named)) }
        folders.append("device-profiles")
        if var program = executablePath() {
            // From `.build/release/hearth` up to the package, and from `bin/hearth` to `share`.
            for _ in 0..<5 {
                guard let slash = program.lastIndex(of: "/") else { break }
                program = String(program[..<slash])
                folders.append(program + "/device-profiles")
                folders.append(program + "/share/hearth/device-profiles")
            }
        }
        return ProfileLibrary(folders: folders)
    }

    /// Reads the profile that `reference` names: a path, or a name without `.yaml`. - Throws: `ProfileErrors`.
    public func profile(_ reference: String, relativeTo file: String? = nil) throws(ProfileErrors) -> DeviceProfile {
        let path = try locate(reference, relativeTo: file)
        return try ProfileReader.read(Self.contents(of: path), file: path)
    }

    /// Reads a fleet. - Throws: `ProfileErrors` when the fleet as a whole cannot be used; mistakes of members are in its `errors`.
    public func fleet(_ reference: String) throws(ProfileErrors) -> Fleet {
        let path = try locate(reference, relativeTo: nil, what: "fleet")
        return try Fleet.read(try Self.contents(of: path), file: path, library: self)
    }

    /// The YAML files of the first folder that has any, sorted.
    public func files() -> [String] {
        for folder in folders {
            let names = Self.yamlFiles(in: folder)
            if !names.isEmpty { return names.map { "\(folder)/\($0)" } }
        }
        return []
    }

    func locate(_ reference: String, relativeTo file: String?, what: String = "profile") throws(ProfileErrors) -> String {
        guard reference.contains(where: { !$0.isWhitespace }) else {
            throw ProfileErrors(errors: [ProfileError(file: "", "the name of the \(what) is empty")])
        }
        var candidates = [reference]
        if let file, let slash = file.lastIndex(of: "/") { candidates.append(file[..<slash] + "/" + reference) }
        let isPath = reference.contains("/")
        if !isPath { candidates += folders.map { "\($0)/\(reference)" } }
        for candidate in candidates {
            for path in [candidate, candidate + ".yaml"] where Self.isFile(path) { return path }
        }
        if isPath, access(reference, F_OK) == 0 {
            throw ProfileErrors(errors: [ProfileError(file: reference, "this is no regular file, and a \(what) is one")])
        }
        let known = files().map { ProfileReader.name(of: $0) }
        let hint = DataModel.didYouMean(reference, among: known)
        let looked = folders.map { "'\($0)'" }.joined(separator: " and ")
        let list =
            !known.isEmpty
            ? ". Ready are: \(known.joined(separator: ", "))"
            : isPath ? "" : "; no profile is in \(looked): name Hearth's folder device-profiles in HEARTH_PROFILES, or give a path"
        throw ProfileErrors(errors: [ProfileError(file: reference, "there is no such \(what)\(hint.isEmpty ? list : hint)")])
    }

    private static func isFile(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
    }

    static func contents(of path: String, most: Int = YAMLParser.maximumSize) throws(ProfileErrors) -> [UInt8] {
        func fail(_ what: String) -> ProfileErrors {
            ProfileErrors(errors: [ProfileError(file: path, "\(what): \(String(cString: strerror(errno)))")])
        }
        // A pipe or a device could keep its reader waiting, and with it all devices.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw fail("the file cannot be opened") }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw ProfileErrors(errors: [ProfileError(file: path, "this is no regular file: copy what it says into one")])
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= most {
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0 else { throw fail("the file cannot be read") }
            bytes += chunk[..<count]
        }
        return bytes
    }

    private static func yamlFiles(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".yaml") { names.append(name) }
        }
        return names.sorted()
    }

    private static func executablePath() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? -1
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
