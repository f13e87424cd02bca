import Foundations
import ServiceConfiguration

/// A service's parsed command line.
///
/// No library parses it, because the flags are the keys that the service's configuration reads, and `--help` and the
/// manual page come from the same list:
///
/// - `CommandLineArgumentsProvider` of swift-configuration 1.4.0 silently ignores unknown flags and positional
///   arguments. It splits every value at commas, so that `--retry-delays 1s,5s` read as a string is `nil`, as if the
///   flag were absent. It has no help.
/// - swift-argument-parser 1.8.2 finds options by reflection of the stored properties of a type that it makes itself
///   (`Mirror(reflecting: type.init())`), so each service would declare its keys a second time.
struct ServiceArguments: Sendable, Hashable {
    enum Command: Sendable, Hashable {
        case serve, health, help, version
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
    /// `--experimental-dump-help` has its name from swift-argument-parser.
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
            case "--experimental-dump-help": result.command = .dump
            case "health" where result.command == .serve: result.command = .health
            default: try result.takeFlag(argument, &rest, keys)
            }
        }
        return result
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
