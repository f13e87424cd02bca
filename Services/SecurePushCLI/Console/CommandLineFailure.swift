import ArgumentParser
import Foundation
import SecurePushCore
import ServiceConfiguration
import ServiceRuntime

/// A command line that cannot be used, in the form of every other failure.
///
/// The argument parser writes "Error:" and the whole usage. It suggests no commands, and reports a missing option
/// before an unknown one, which is often the same mistake.
enum CommandLineFailure {
    /// - Parameters:
    ///   - error: of the argument parser.
    ///   - arguments: the command line without the program's name.
    static func describe(_ error: any Error, _ arguments: [String]) -> CommandFailure {
        let (command, name) = command(of: arguments)
        if let unknown = unknownCommand(arguments, command, name) { return unknown }
        if let unknown = unknownOption(arguments, command, name) { return unknown }
        var message = withoutValues(SecurePush.message(for: error), arguments, options(of: command))
        if let last = message.last, last.isLetter || last.isNumber || "'`)>".contains(last) { message += "." }
        let whole = SecurePush.fullMessage(for: error, columns: HelpText.unwrapped)
        // Not by "\n": a value that ends with a carriage return makes one character of it and the line end.
        let help = whole.split(whereSeparator: \.isNewline).first { $0.hasPrefix("Help:  ") }?.dropFirst(7)
        return CommandFailure(
            .usage, message, details: help.map { [String($0)] } ?? [], hint: "See `\(name) --help`.")
    }

    /// The argument parser repeats the values that it refuses. One of them can be a password in the wrong place.
    ///
    /// - Parameter options: the names that are shown.
    static func withoutValues(_ message: String, _ arguments: [String], _ options: Set<String>) -> String {
        var message = message
        let values = arguments.flatMap {
            [$0] + OutsideText.parts($0, at: "=", maxSplits: 1).dropFirst().map(String.init)
        }
        for value in values.sorted(by: { $0.utf8.count > $1.utf8.count }) where !options.contains(value) {
            message = message.replacing(" '\(value)'", with: "")
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

    /// The failure if the first argument that is no option should be the name of a command and is none.
    private static func unknownCommand(
        _ arguments: [String], _ command: any ParsableCommand.Type, _ name: String
    ) -> CommandFailure? {
        let isGroup = !command.configuration.subcommands.isEmpty
        let depth = name.split(separator: " ").count - 1
        let words = arguments.prefix { $0 != "--" }.filter { !$0.hasPrefix("-") }
        guard isGroup, words.count > depth else { return nil }
        // A group with options of its own takes values, which are no commands.
        guard options(of: command).subtracting(commonOptions).isEmpty else { return nil }
        let wrong = words[depth]
        let names = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
        let meant = suggestion(for: wrong, of: names)
        let message =
            OutsideText.commandWord(wrong).map { "There is no command `\(name) \($0)`." }
            ?? "`\(name)` has no such command."
        return CommandFailure(
            .usage, message + (meant.map { " Did you mean `\(name) \($0)`?" } ?? ""),
            hint: "`\(name) --help` lists the commands.")
    }

    private static func unknownOption(
        _ arguments: [String], _ command: any ParsableCommand.Type, _ name: String
    ) -> CommandFailure? {
        let known = options(of: command).union(commonOptions)
        let given = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }
            .map { String(OutsideText.parts($0, at: "=", maxSplits: 1)[0]) }
        guard let wrong = given.first(where: { !known.contains($0) }) else { return nil }
        let meant = suggestion(for: wrong, of: known.sorted())
        let word = OutsideText.commandWord(wrong).map { "option `\($0)`" } ?? "such option"
        return CommandFailure(
            .usage, "`\(name)` has no \(word)." + (meant.map { " Did you mean `\($0)`?" } ?? ""),
            hint: "See `\(name) --help`.")
    }

    /// Those that every command has, the hidden ones too.
    private static let commonOptions: Set<String> = [
        "--help", "--help-hidden", "--version", "--experimental-dump-help", "--generate-completion-script",
    ]

    /// The long options of a command's help.
    static func options(of command: any ParsableCommand.Type) -> Set<String> {
        let help = SecurePush.helpMessage(for: command, includeHidden: true, columns: HelpText.unwrapped)
        let labels = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
        let words = labels.flatMap { $0.split(whereSeparator: { " ,/".contains($0) }).prefix { $0.hasPrefix("-") } }
        return Set(words.filter { $0.hasPrefix("--") }.map(String.init))
    }

    /// The name that is nearest to a mistyped one, or that begins with it; `nil` if none is near.
    static func suggestion(for wrong: String, of names: [String]) -> String? {
        if let nearest = NameSuggestion.closest(to: wrong, in: names) { return nearest }
        let isBeginning = wrong.drop { $0 == "-" }.count >= 2
        return isBeginning ? names.first { $0.hasPrefix(wrong) } : nil
    }
}

extension SecurePush {
    /// Instead of the argument parser's own, which prints the help and the errors in its way.
    static func main() async {
        let closed = StandardDescriptors.openMissing()
        // A write then returns an error, which is better than a death without a word. SIGXFSZ is that of `ulimit -f`.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if let failure = StandardOutput.unusable(isClosed: closed.contains(STDOUT_FILENO)) { throw failure }
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

    /// Shows what the argument parser has to say in the form of the other messages, and exits.
    private static func exit(showing error: any Error, _ arguments: [String]) -> Never {
        let console = Console(arguments: arguments)
        let code = exitCode(for: error)
        let text = fullMessage(for: error, columns: HelpText.unwrapped)
        if code == .success {
            // Other texts are the version, completion scripts and the like, for programs.
            let isHelp = text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ")
            let shown = isHelp ? HelpText.wrap(text, to: Terminal.proseColumns(of: STDOUT_FILENO)) : text
            do { try console.line(shown) } catch { fail(CommandFailure(describing: error), console) }
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
