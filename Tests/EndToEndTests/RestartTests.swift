import Glibc
import MatterModel
import Testing

/// What careless users and restarts do to the programs.
@Suite struct RestartTests {
    @Test func aDeviceKeepsItsPortOverRestartsAndKills() throws {
        let bench = try Bench("on-off-light", state: true)
        try bench.pair("on-off-light")
        let address = try bench.address("on-off-light")
        _ = try bench.stop()
        try bench.start()
        #expect(try bench.address("on-off-light") == address)
        bench.simulator.signal(SIGKILL)
        _ = try bench.simulator.finish()
        try bench.start()
        #expect(try bench.address("on-off-light") == address)
        // Without any mDNS the controller finds it at its last address only.
        #expect(try bench.run("invoke", "on-off-light", "OnOff.On").code == 0)
        #expect(try bench.stop().code == 0)
    }

    @Test func aDeviceWhosePortSomebodyElseHasTakesAnother() throws {
        let bench = try Bench("on-off-light", state: true)
        let port = try #require(bench.device("on-off-light")["port"]?.unsigned)
        _ = try bench.stop()
        let other = try Program(["simulate", "on-off-light", "--port", "\(port)", "--mdns", "off", "--json"])
        _ = try other.json { $0["ready"] != nil }
        try bench.start()
        #expect(try bench.device("on-off-light")["port"]?.unsigned != port)
        #expect(try bench.stop().code == 0)
        // The port that a user asks for is another matter.
        let refused = try Program.run("simulate", "on-off-light", "--port", "\(port)", "--mdns", "off")
        #expect(refused.code == 1)
        #expect(refused.errors.contains("cannot listen on [::]:\(port)"))
        other.signal(SIGTERM)
        #expect(try other.finish().code == 0)
    }

    /// Otherwise the first file that is opened becomes standard output, and is written the results.
    @Test func closedDescriptorsAreNotGivenToFiles() throws {
        let scratch = Scratch()
        let command = "\(Program.hearth) devices --mdns off --home \(scratch.folder)/home"
        for closed in [">&-", "<&- >&-", "2>&-", "<&- >&- 2>&-"] {
            let program = try Program(["-c", "\(command) \(closed)"], path: "/bin/sh")
            #expect(try program.finish().code == 0, "\(closed)")
        }
        var bytes = [UInt8](repeating: 0, count: 10)
        let lock = open(scratch.folder + "/home/lock", O_RDONLY)
        #expect(lock >= 0 && read(lock, &bytes, bytes.count) == 0)
        close(lock)
        // What the three are while a simulator runs.
        let script = """
            \(Program.hearth) simulate on-off-light --mdns off --state \(scratch.folder)/state >&- 2>&- <&- &
            trap "kill $!" EXIT
            until [ -e \(scratch.folder)/state/simulator.sqlite ]; do kill -0 $! || exit 1; done
            for n in 0 1 2; do readlink /proc/$!/fd/$n; done
            """
        let listing = try Program(["-c", script], path: "/bin/sh")
        #expect(try listing.finish().output == "/dev/null\n/dev/null\n/dev/null\n")
    }

    @Test func theLastLineOfAShellNeedsNoEnd() throws {
        let scratch = Scratch()
        let shell = "\(Program.hearth) shell --json --mdns off --home \(scratch.folder)/home"
        let short = try Program(["-c", #"printf '{"id":1,"do":"whoami"}' | "# + shell], path: "/bin/sh").finish()
        #expect(short.code == 0, "\(short.errors)")
        #expect(short.output.contains(#""nodeId":1"#))
        let long = try Program(["-c", "head -c 5000000 /dev/zero | \(shell)"], path: "/bin/sh").finish()
        #expect(long.code == 0, "\(long.errors)")
        #expect(long.output.split(separator: "\n").count == 2, "the hello, and one line that says that it is too long")
    }
}
