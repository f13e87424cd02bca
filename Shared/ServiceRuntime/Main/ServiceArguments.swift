import SecurePushCore
import ServiceConfiguration

/// A service's parsed command line.
///
/// No library parses it, because the flags come from a catalogue of keys (`ConfigurationKeys`), which is also the
/// source of `--help` and of the documentation:
///
/// - `CommandLineArgumentsProvider` of swift-configuration 1.4.0 silently ignores unknown flags and positional
///   arguments. It splits every value at commas, so that `--retry-delays 1s,5s` read as a string is `nil`, as if the
///   flag were absent. It has no help.
/// - swift-argument-parser 1.8.2 finds options by reflection of the stored properties of a type that it makes itself
///   (`Mirror(reflecting: type.init())`), so each service would declare its keys a second time.
struct ServiceArguments: Sendable, Hashable {
    enum Command: Sendable, Hashable {
        case serve, health, help, version
        /// Prints a completion script.
        case completion(CompletionShell)
        /// Prints the help in JSON, for the manual pages.
        case dump
    }

    /// The command line is invalid; exit code 64.
    struct UsageError: Error, Hashable, CustomStringConvertible {
        let description: String
    }

    var command = Command.serve
    /// Values by key name (`HTTP_PORT`). The last of several wins.
    var flags: [String: String] = [:]

    /// Parses `--http-port 8080` and `--http-port=8080` for the keys, and `--help`, `-h`, `--version` and `health`.
    /// `--generate-completion-script SHELL` and `--experimental-dump-help` have their names from swift-argument-parser.
    ///
    /// - Parameter arguments: without the program's name.
    static func parse(
        _ arguments: [String], keys: [any ConfigurationKeyDescription]
    ) throws(UsageError) -> ServiceArguments {
        var result = ServiceArguments()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": result.command = .help
            case "--version": if result.command != .help { result.command = .version }
            case "--generate-completion-script": result.command = .completion(try takeShell(&rest))
            case "--experimental-dump-help": result.command = .dump
            case "health" where result.command == .serve: result.command = .health
            default: try result.takeFlag(argument, &rest, keys)
            }
        }
        return result
    }

    private static func takeShell(_ rest: inout ArraySlice<String>) throws(UsageError) -> CompletionShell {
        if let shell = rest.popFirst().flatMap(CompletionShell.init) { return shell }
        let shells = CompletionShell.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError(description: "--generate-completion-script needs one of: \(shells)")
    }

    private mutating func takeFlag(
        _ argument: String, _ rest: inout ArraySlice<String>, _ keys: [any ConfigurationKeyDescription]
    ) throws(UsageError) {
        let parts = OutsideText.parts(argument, at: "=", maxSplits: 1).map(String.init)
        let flag = parts.first ?? argument
        guard let key = keys.first(where: { $0.flags.contains(flag) }) else {
            let known = keys.flatMap(\.flags) + ["--help", "--version", "health"]
            let meant = NameSuggestion.closest(to: flag, in: known).map { ": is \($0) meant?" } ?? ""
            let word = OutsideText.commandWord(argument).map { " \($0)" } ?? ""
            throw UsageError(description: "unknown \(flag.hasPrefix("-") ? "option" : "argument")\(word)\(meant)")
        }
        if parts.count == 2 {
            flags[key.name] = parts[1]
        } else if let value = rest.first, !value.hasPrefix("--") {
            flags[key.name] = value
            rest.removeFirst()
        } else {
            throw UsageError(description: "\(flag) needs a value: \(flag) \(key.hint)")
        }
    }
}

/// The texts of `--help` and `--version` of a service.
struct ServiceUsage: Sendable {
    let name: String
    let summary: String
    /// The service's keys and those of logging, in the order of the help.
    let keys: [any ConfigurationKeyDescription]

    init(name: String, summary: String, keys: [any ConfigurationKeyDescription]) {
        self.name = name
        self.summary = summary
        var names = Set<String>()
        let logging: [any ConfigurationKeyDescription] = [
            ConfigurationKeys.logLevel, ConfigurationKeys.logFormat, ConfigurationKeys.accessLog,
        ]
        self.keys = (keys + logging).filter { names.insert($0.name).inserted }
    }

    /// `ingest 0.1.0 (revision 1a2b3c4d5e6f, Swift 6.3)` and a line end.
    var version: String { SecurePushVersion.line(of: name) + "\n" }

    /// - Parameter columns: the longest line, 20 or more. A single word can be longer.
    func help(columns: Int) -> String {
        var rows = keys.map { key in (left: "\(key.flag) \(key.hint)", right: description(of: key)) }
        rows.append((left: "-h, --help", right: "Show this help and exit."))
        rows.append((left: "--version", right: "Show the version and exit."))
        // The text of a flag that is longer than the column begins on the next line.
        let column = min(columns * 38 / 100, (rows.map(\.left.count).max() ?? 0) + 4)
        let options = rows.map { row in
            let lines = row.right.wrapped(to: columns - column)
            let left = "  " + row.left
            let indent = String(repeating: " ", count: column)
            let gap = left.count < column - 1 ? String(repeating: " ", count: column - left.count) : "\n" + indent
            return left + gap + lines.joined(separator: "\n" + indent)
        }
        func prose(_ text: String) -> String { text.wrapped(to: columns).joined(separator: "\n") }
        return """
            \(prose(summary))

            Usage: \(name) [OPTIONS]
                   \(name) health [OPTIONS]

            \(prose("health checks a running service through its /livez and exits with 0 or 1."))

            \(prose("Options (each is also an environment variable; the option wins):"))
            \(options.joined(separator: "\n"))

            \(prose("Durations are a number and ms, s, m, h or d."))
            \(prose("Exit codes: 0 stopped after SIGTERM, 1 failed, 64 wrong usage, 78 invalid configuration."))

            """
    }

    private func description(of key: any ConfigurationKeyDescription) -> String {
        let meaning = "\(key.name): \(key.meaning)." + (key.shortFlag.map { " Also \($0)." } ?? "")
        guard let defaultText = key.defaultText else { return meaning }
        return "\(meaning) Default: \(defaultText)."
    }
}

extension String {
    /// Lines of at most `width` characters, broken at spaces. A longer word is a line of its own.
    fileprivate func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        for word in split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
