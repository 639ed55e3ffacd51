import HearthTime
import HomeTestKit
import MatterModel
import MatterSimulator

// A home that lives through a day with faults, and prints its journal: run in two processes it must print the same bytes.
// Usage: home-probe (memory|loopback) SEED PROFILES

let words = CommandLine.arguments
EntryPoint.run {
    guard words.count == 4, let link = VirtualHome.Link(rawValue: words[1]), let seed = UInt64(words[2]) else {
        print("usage: home-probe (memory|loopback) SEED PROFILES")
        return 2
    }
    do {
        for line in try await Day.run(link, seed: seed, profiles: words[3]) { print(line) }
        return 0
    } catch {
        print("failed: \(error)")
        return 1
    }
}
