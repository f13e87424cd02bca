import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import SecurePushCLI

/// A command and where it stands: `securepush dead-letters list`.
struct CommandPath: Sendable, CustomTestStringConvertible {
    var name: String
    var type: any ParsableCommand.Type

    var testDescription: String { name }

    /// Every command that the help shows, the root first.
    static let all = walk(SecurePush.self, "securepush")

    private static func walk(_ type: any ParsableCommand.Type, _ name: String) -> [CommandPath] {
        guard type.configuration.shouldDisplay else { return [] }
        let below = type.configuration.subcommands.flatMap { command in
            walk(command, name + " " + (command._commandName))
        }
        return [CommandPath(name: name, type: type)] + below
    }

    /// Whether it does something itself; `setup` does, and has commands below it too.
    var isLeaf: Bool { type.configuration.subcommands.isEmpty || !options.isEmpty }

    /// The long options that its help tells, without those that every command has.
    var options: Set<String> {
        let help = SecurePush.helpMessage(for: type, columns: 400)
        let words = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
            .flatMap { $0.split(whereSeparator: { " ,/".contains($0) }).prefix { $0.hasPrefix("-") } }
        return Set(words.filter { $0.hasPrefix("--") }.map(String.init))
            .subtracting(Self.common)
    }

    /// Those that the page describes once for all commands.
    static let common: Set<String> = ["--help", "--version", "--json", "--no-color", "--ca-file"]
}

@Suite struct HelpTests {
    @Test(arguments: CommandPath.all)
    func `Each command has an abstract and examples of itself`(command: CommandPath) throws {
        #expect(!command.type.configuration.abstract.isEmpty)
        let help = SecurePush.helpMessage(for: command.type, columns: 400)
        let examples = try #require(help.components(separatedBy: "EXAMPLES").dropFirst().first)
        #expect(examples.contains(command.name), "no example of \(command.name)")
        // The argument parser would break longer ones, and then they cannot be copied.
        let lines = examples.components(separatedBy: "USAGE:")[0].split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    }

    @Test func `docs/reference/cli.md has each command with each of its options, and no others`() throws {
        let path = TestEnvironment.packageRoot.appending(path: "docs/reference/cli.md")
        let sections = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "\n### `").dropFirst()
        var documented: [String: String] = [:]
        for section in sections { documented[String(section.prefix { $0 != "`" })] = section }
        // The options of services are settings, which docs/reference/configuration.md has.
        let leaves = CommandPath.all.filter { command in
            command.name.hasPrefix("securepush serve") ? command.name == "securepush serve" : command.isLeaf
        }
        #expect(Set(documented.keys) == Set(leaves.map(\.name)))
        for command in leaves {
            let text = documented[command.name] ?? ""
            let words = text.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init)
            // --rm is docker's.
            let told = Set(words.filter { $0.hasPrefix("--") && $0.contains { $0.isLetter } })
                .subtracting(CommandPath.common.union(["--rm"]))
            #expect(command.options.subtracting(told).isEmpty, "\(command.name): not in docs/reference/cli.md")
            #expect(told.subtracting(command.options).isEmpty, "\(command.name): not in its help")
        }
    }

    @Test(arguments: [["send", "--help"], ["help", "send"], ["send", "-h"]])
    func `Each way to ask for help shows the same, as wide as the terminal`(arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandLineRun(arguments, in: folder)
            #expect(run.code == 0 && run.errors.isEmpty)
            #expect(run.output.hasPrefix("OVERVIEW: "))
            // The argument parser wraps all but this line.
            let lines = run.lines.filter { !$0.hasPrefix("USAGE: securepush send") }
            #expect(lines.count == run.lines.count - 1)
            #expect(lines.allSatisfy { $0.count <= 80 } && lines.contains { $0.count > 70 })
            let narrow = try await TerminalRun(arguments, in: folder, columns: 60)
            #expect(narrow.code == 0 && narrow.lines.count > run.lines.count)
            let wide = try await TerminalRun(arguments, in: folder, columns: 200)
            #expect(wide.lines.allSatisfy { $0.count <= 100 || $0.hasPrefix("USAGE: ") })
            #expect(wide.lines.count < run.lines.count)
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `Completion scripts name every command`(shell: String) async throws {
        let run = try await CommandLineRun(["--generate-completion-script", shell])
        #expect(run.code == 0 && run.errors.isEmpty)
        for command in CommandPath.all.dropFirst() {
            let word = String(command.name.split(separator: " ").last ?? "")
            #expect(run.output.contains(word), "\(command.name)")
        }
    }

    @Test func `Files and platforms are completed, those of services too`() async throws {
        let lines = try await CommandLineRun(["--generate-completion-script", "bash"]).lines
        let values = zip(lines, lines.dropFirst()).filter { $0.0.contains(/^ +'--[a-z0-9-]+'\)$/) }
        let completed = values.filter { line, _ in
            ["-file'", "--jwks'", "--report'", "--directory'", "--services'", "--passwords'", "--platform'"]
                .contains { line.contains($0) }
        }
        #expect(completed.count > 60)
        for (option, completion) in completed {
            #expect(completion.contains("add_completions"), "\(option)")
        }
    }

    @Test func `There is no completion for another shell, and the message names those that have one`() async throws {
        let run = try await CommandLineRun(["--generate-completion-script", "powershell"])
        #expect(run.code == 64 && run.errors.contains("fish") && !run.errors.contains("powershell"), "\(run.errors)")
    }

    @Test func `Options of every command may stand before the command`() async throws {
        let run = try await CommandLineRun(["--json", "config", "show"])
        #expect(run.code == 0 && run.output.hasPrefix("{"), "\(run.errors)")
        #expect(CommandLineFailure.withOptionsBehind(["--json", "send", "--", "x"]) == ["send", "--json", "--", "x"])
        #expect(CommandLineFailure.withOptionsBehind(["--json"]) == ["--json"])
        #expect(CommandLineFailure.withOptionsBehind(["list", "--json"]) == ["list", "--json"])
    }

    @Test(arguments: [["sned"], ["help", "sned"]])
    func `Two letters in the wrong order are one mistake`(arguments: [String]) async throws {
        let run = try await CommandLineRun(arguments)
        #expect(run.code == 64 && run.errors.contains("Did you mean `securepush send`?"), "\(run.errors)")
    }

    @Test func `The message about a wrong ID shows one`() async throws {
        let run = try await CommandLineRun(["status", "123"])
        #expect(run.code == 64 && run.errors.contains(IDArgument.example), "\(run.errors)")
    }
}
