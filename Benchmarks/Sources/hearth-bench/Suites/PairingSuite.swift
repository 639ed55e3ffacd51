/// Pairings a second, one after the other: setup code to commissioned device, with the controller in this process and the device in
/// another. Each has several handshakes, SPAKE2+ with 1,000 iterations and more, two generated keys and a certificate.
enum PairingSuite {
    static func run(_ report: inout Report, _ options: Options) async throws {
        let folder = try TemporaryFolder()
        let count = min(40, options.devices)
        let home = try await MeasuredHome.start(Server.fiveKinds, count: count, folder: folder.path)
        var times: [Double] = []
        let (server, own) = (cpuSeconds(of: home.server.pid) ?? 0, cpuSeconds())
        for index in 0..<count {
            let start = seconds()
            try await home.pair(index)
            times.append(seconds() - start)
        }
        let perPairing = { (cpu: Double) in cpu / Double(count) * 1000 }
        report.add(
            "pairings", "pairings a second", 1 / median(times), "/s",
            [
                ("ms each", median(times) * 1000), ("device ms CPU", perPairing((cpuSeconds(of: home.server.pid) ?? 0) - server)),
                ("controller ms CPU", perPairing(cpuSeconds() - own)),
            ])
        await home.close()
    }
}
