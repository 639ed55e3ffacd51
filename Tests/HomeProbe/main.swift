import HearthTime
import HomeTestKit
import MatterModel
import MatterSimulator

// A home that lives through a day with faults, and prints its journal: run in two processes it must print the same bytes.
// With 'replay' it replays that journal and prints what came of it.
// With 'link' controllers and devices exchange messages, and no TLS is in between.
// Usage: home-probe (memory|loopback|link|replay) SEED PROFILES

let words = CommandLine.arguments
EntryPoint.run {
    let way = words.count == 4 ? words[1] : ""
    let link = way == "replay" || way == "link" ? .memory : VirtualHome.Link(rawValue: way)
    guard words.count == 4, let link, let seed = UInt64(words[2]) else {
        print("usage: home-probe (memory|loopback|link|replay) SEED PROFILES")
        return 2
    }
    do {
        let lines = try await Day.run(link, isDirect: way == "link", seed: seed, profiles: words[3])
        if way == "replay" {
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
