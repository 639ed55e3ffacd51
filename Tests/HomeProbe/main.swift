import HearthTime
import HomeTestKit
import MatterModel
import MatterSimulator

// A home that lives through a day with faults, and prints its journal: run in two processes it must print the same bytes.
// With 'replay' it replays that journal and prints what came of it.
// Usage: home-probe (memory|loopback|replay) SEED PROFILES

let words = CommandLine.arguments
EntryPoint.run {
    let link = words.count == 4 && words[1] == "replay" ? .memory : VirtualHome.Link(rawValue: words.count == 4 ? words[1] : "")
    guard words.count == 4, let link, let seed = UInt64(words[2]) else {
        print("usage: home-probe (memory|loopback|replay) SEED PROFILES")
        return 2
    }
    do {
        let lines = try await Day.run(link, seed: seed, profiles: words[3])
        if words[1] == "replay" {
            print(JSONValue.object(try await Day.replay(lines, seed: seed, profiles: words[3])).text())
        } else {
            for line in lines { print(line) }
        }
        return 0
    } catch {
        print("failed: \(error)")
        return 1
    }
}
