import ArgumentParser
import Foundation
import Foundations
import ServiceConfiguration
import ServiceRuntime

/// A command line that cannot be used, in the form of every other failure.
///
/// The argument parser writes "Error:" and the whole usage, suggests no commands, and repeats the values that it
/// refuses. One of them can be a password in the wrong place.
enum CommandLineFailure {
    /// - Parameters:
    ///   - error: of the argument parser.
    ///   - arguments: the command line without the program's name.
    static func describe(_ error: any Error, _ arguments: [String]) -> CommandFailure {
        let (command, name) = command(of: arguments)
        if let unknown = unknownCommand(arguments, command, name) { return unknown }
        var message = withoutValues(SecurePush.message(for: error), arguments)
        if let last = message.last, last.isLetter || last.isNumber || "'`)>".contains(last) { message += "." }
        // Not by "\n": a value that ends with a carriage return makes one character of it and the line end.
        let help = SecurePush.fullMessage(for: error).split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("Help:  ") }?.dropFirst(7)
        return CommandFailure(
            .usage, message, details: help.map { [String($0)] } ?? [], hint: "See `\(name) --help`.")
    }

    private static let completion = "--generate-completion-script"

    /// The command line with the options that every command has behind the command, where the argument parser knows
    /// them: `securepush --json list` is `securepush list --json`.
    static func withOptionsBehind(_ arguments: [String]) -> [String] {
        let common = arguments.prefix { ["--json", "--no-color"].contains($0) }
        let rest = arguments.dropFirst(common.count)
        guard !common.isEmpty, rest.first?.hasPrefix("-") == false else { return arguments }
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        return Array(rest[..<end] + common + rest[end...])
    }

    /// What looks like the name of an option stays. A value and its option are parted where the argument parser parts
    /// them: at the first character that is an equal sign.
    private static func withoutValues(_ message: String, _ arguments: [String]) -> String {
        var message = message
        let values = arguments.flatMap { argument in
            [argument] + argument.split(separator: "=" as Character, maxSplits: 1).map(String.init)
        }
        for value in values.sorted(by: { $0.utf8.count > $1.utf8.count }) {
            let isOption = value.hasPrefix("--") && OutsideText.commandWord(value).map { $0 == value } ?? false
            if !isOption { message = message.replacing(" '\(value)'", with: "") }
        }
        // "2 unexpected arguments: 'a', 'b'"
        if let list = message.firstRange(of: " unexpected arguments:") {
            message = String(message[..<message.index(before: list.upperBound)])
        }
        return message
    }

    /// The failure of `securepush help NAME` if there is no such command. The argument parser would show the help of
    /// the whole program.
    static func describe(helpRequest arguments: [String]) -> CommandFailure? {
        guard arguments.first == "help", arguments.dropFirst().first != "help" else { return nil }
        let names = Array(arguments.dropFirst())
        let (command, name) = command(of: names)
        return unknownCommand(names, command, name)
    }

    /// The command that the arguments name, and its whole name. Options before the name of a subcommand are skipped.
    static func command(of arguments: [String]) -> (type: any ParsableCommand.Type, name: String) {
        var (type, name): (any ParsableCommand.Type, String) = (SecurePush.self, "securepush")
        for argument in arguments {
            if argument == "--" { break }
            if argument.hasPrefix("-") { continue }
            guard let next = type.configuration.subcommands.first(where: { $0._commandName == argument }) else { break }
            (type, name) = (next, name + " " + argument)
        }
        return (type, name)
    }

    /// The failure if the first argument that is not an option should be the name of a command, but is not.
    private static func unknownCommand(
        _ arguments: [String], _ command: any ParsableCommand.Type, _ name: String
    ) -> CommandFailure? {
        let depth = name.split(separator: " ").count - 1
        let words = arguments.prefix { $0 != "--" }.filter { !$0.hasPrefix("-") }
        // A group that does something itself has options, whose values are no commands.
        guard !command.configuration.subcommands.isEmpty, !(command is any ConsoleCommand.Type), words.count > depth
        else { return nil }
        let wrong = words[depth]
        if arguments.first == completion {
            return CommandFailure(
                .usage, "There is no completion script for this shell.", hint: "bash, zsh and fish have one.")
        }
        // A service too has options with values. Its commands come first.
        if name.hasPrefix("securepush serve "), arguments.dropFirst(depth).first != wrong { return nil }
        let names = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
        let isBeginning = wrong.utf8.count >= 2
        let meant =
            NameSuggestion.closest(to: wrong, in: names) ?? names.first { isBeginning && $0.hasPrefix(wrong) }
        let message =
            OutsideText.commandWord(wrong).map { "There is no command `\(name) \($0)`." }
            ?? "`\(name)` has no such command."
        return CommandFailure(
            .usage, message + (meant.map { " Did you mean `\(name) \($0)`?" } ?? ""),
            hint: "`\(name) --help` lists the commands.")
    }
}

extension SecurePush {
    /// Instead of the argument parser's own, which prints the help and the errors in its way.
    static func main() async {
        let closed = StandardDescriptors.openMissing()
        // A write then returns an error, which is better than a death without a word. SIGXFSZ is that of `ulimit -f`.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let arguments = CommandLineFailure.withOptionsBehind(ServeCommand.arguments(of: CommandLine.arguments))
        do {
            // A service writes to standard error.
            if arguments.first != "serve",
                let failure = StandardOutput.unusable(isClosed: closed.contains(STDOUT_FILENO))
            {
                throw failure
            }
            if let failure = CommandLineFailure.describe(helpRequest: arguments) { throw failure }
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(showing: error, arguments)
        }
    }

    /// Shows the argument parser's message in the form of the other messages, and exits.
    private static func exit(showing error: any Error, _ arguments: [String]) -> Never {
        let console = Console(arguments: arguments)
        let code = exitCode(for: error)
        if code == .success {
            // The argument parser needs room beside the options.
            let text = fullMessage(for: error, columns: max(40, Terminal.proseColumns(of: STDOUT_FILENO)))
            do { try console.line(text) } catch { fail(CommandFailure(describing: error), console) }
        } else if !(error is ExitCode) {
            let isUsage = code.rawValue == CommandFailure.Code.usage.rawValue
            fail(isUsage ? CommandLineFailure.describe(error, arguments) : CommandFailure(describing: error), console)
        }
        Foundation.exit(code.rawValue)
    }

    private static func fail(_ failure: CommandFailure, _ console: Console) -> Never {
        console.report(failure)
        Foundation.exit(failure.code.rawValue)
    }
}
