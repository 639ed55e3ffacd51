import Glibc

/// How long the command line takes to do nothing.
enum StartUpSuite {
    static func run(_ report: inout Report) throws {
        let program = try MeasuredHome.executable()
        let folder = program[..<(program.lastIndex(of: "/") ?? program.endIndex)]
        try measure(&report, "hearth --version", "\(folder)/hearth", ["--version"])
        try measure(&report, "true, for comparison", "true", [])
    }

    private static func measure(_ report: inout Report, _ name: String, _ program: String, _ words: [String]) throws {
        var times: [Double] = []
        for _ in 0..<21 {
            let start = seconds()
            let child = try ChildProcess(program, words)
            let (_, status) = child.finish()
            guard status == 0 else { throw BenchmarkError("\(name) ended with status \(status)") }
            times.append((seconds() - start) * 1000)
        }
        report.add("start-up", name, median(times), "ms", [("least", times.min() ?? 0)])
    }
}
