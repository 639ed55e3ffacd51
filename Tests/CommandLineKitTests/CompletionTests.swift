import Glibc
import Testing

@testable import CommandLineKit

@Suite struct CompletionTests {
    private func texts(_ words: String...) async -> [String]? {
        guard case .words(let candidates) = await Completer.complete(words, root: demoProgram().root) else { return nil }
        return candidates.map(\.text)
    }

    @Test func commandsOptionsAndValues() async {
        #expect(await texts("") == ["read", "move", "sim", "completion", "help"])
        #expect(await texts("m") == ["move"])
        #expect(await texts("sim", "") == ["clock"])
        #expect(await texts("read", "--f") == ["--filter", "--format"])
        #expect(await texts("read", "--no") == ["--no-color"])
        #expect(await texts("read", "--format", "") == ["table", "lines", "tree"])
        #expect(await texts("read", "--format=t") == ["--format=table", "--format=tree"])
        // Given once is enough, unless it repeats.
        #expect(await texts("read", "--format", "tree", "--f") == ["--filter"])
        #expect(await texts("read", "--filter", "a", "--f") == ["--filter", "--format"])
        #expect(await texts("completion", "") == ["bash", "zsh", "fish"])
        #expect(await texts("read", "hall", "--", "--") == [])
    }

    @Test func namesComeFromTheClosure() async {
        #expect(await texts("read", "") == ["kitchen lamp", "Kettle", "hall"])
        #expect(await texts("read", "k") == ["kitchen lamp", "Kettle"])
        #expect(await texts("read", "--home", "/empty", "") == [])
        #expect(await texts("--home=/empty", "read", "k") == [])
        #expect(await texts("read", "-t", "5", "ha") == ["hall"])
        #expect(await texts("read", "hall", "") == [])
    }

    @Test func filesAndFolders() async {
        #expect(await Completer.complete(["--home", ""], root: demoProgram().root) == .folders)
        #expect(await Completer.complete(["move", "5", ""], root: demoProgram().root) == .files)
    }

    @Test func theProtocol() async {
        let terminal = Terminal.captured()
        let line = "demo read 'kitch"
        #expect(await demoProgram().run(["__complete", "--line", line], on: terminal) == .ok)
        #expect(terminal.outputText == "words kitch\nkitchen lamp\tOn/Off Light\n")
        let words = Terminal.captured()
        _ = await demoProgram().run(["__complete", "--words", "--", "read", "--format="], on: words)
        #expect(words.outputText == "words --format=\n--format=table\n--format=lines\n--format=tree\n")
        let broken = Terminal.captured()
        #expect(await demoProgram().run(["__complete"], on: broken) == .ok)
    }

    @Test(arguments: [
        ("", [""]), ("demo", ["demo"]), ("demo ", ["demo", ""]), ("a  b", ["a", "b"]), ("a 'b c' d\\ e", ["a", "b c", "d e"]),
        ("a \"b c", ["a", "b c"]), ("a '' ", ["a", "", ""]), ("a \"x\\\"y\"", ["a", "x\"y"]), ("a 'x\\y'", ["a", "x\\y"]),
    ]) func shellWords(line: String, words: [String]) { #expect(ShellWords.split(line) == words) }

    @Test(arguments: Shell.allCases) func scriptsNameTheProgramOnly(shell: Shell) async {
        let terminal = Terminal.captured()
        #expect(await demoProgram().run(["completion", shell.rawValue], on: terminal) == .ok)
        #expect(!terminal.outputText.contains("@" + "PROGRAM"))
        #expect(!terminal.outputText.contains("@" + "FUNCTION"))
        #expect(terminal.outputText.contains("__complete"))
        #expect(terminal.outputText.contains("demo"))
        #expect(!terminal.outputText.contains("timeout"))
    }

    /// Bash itself, with a stand-in for the program that gives the answer.
    @Test(arguments: [
        ("demo read k", ["words k", "kitchen lamp\tOn/Off Light", "kettle"], ["kitchen\\ lamp", "kettle"]),
        ("demo read --format=t", ["words --format=t", "--format=table", "--format=tree"], ["table", "tree"]),
        ("demo read --format=", ["words --format=", "--format=table"], ["table"]),
        ("demo read ", ["words ", "hall"], ["hall"]),
        ("demo read hall/", ["open hall/", "hall/1:"], ["hall/1:"]),
    ]) func bashTakesTheAnswers(line: String, answer: [String], replies: [String]) throws {
        var template = Array("/tmp/hearth-completion-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            unlink(folder + "/demo.bash")
            rmdir(folder)
        }
        let stand = "demo() { printf '%s\\n' \(answer.map { "'\($0)'" }.joined(separator: " ")); }\n"
        // How bash itself would split the line: also before and after each =.
        var words = line.split(separator: " ", omittingEmptySubsequences: false).flatMap { word -> [String] in
            guard let equals = word.firstIndex(of: "=") else { return [String(word)] }
            return [String(word[..<equals]), "=", String(word[word.index(after: equals)...])]
        }
        if words.count > 1, words.last == "", words[words.count - 2] == "=" { words.removeLast() }
        let call = """
            compopt() { :; }
            COMP_LINE='\(line)' COMP_POINT=\(line.utf8.count) COMP_CWORD=\(words.count - 1)
            COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " ")))
            _demo
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let script = CompletionScripts.script(.bash, program: "demo") + stand + call
        let file = try #require(fopen(folder + "/demo.bash", "w"))
        fputs(script, file)
        fclose(file)
        let pipe = try #require(popen("bash \(folder)/demo.bash 2>&1", "r"))
        var output = [UInt8](repeating: 0, count: 10_000)
        let count = fread(&output, 1, output.count, pipe)
        pclose(pipe)
        let lines = String(decoding: output[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines == replies)
    }
}
