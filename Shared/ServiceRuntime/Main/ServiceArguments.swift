import ServiceConfiguration

/// A service's command line, taken apart.
struct ServiceArguments: Sendable, Hashable {
    enum Command: Sendable, Hashable { case serve, health, help, version }

    /// The command line is no good; exit code 64.
    struct UsageError: Error, Hashable, CustomStringConvertible {
        let description: String
    }

    var command = Command.serve
    /// Values by key name (`HTTP_PORT`); the last of several wins.
    var flags: [String: String] = [:]

    /// Reads `--http-port 8080` and `--http-port=8080` for the keys given, `--help`, `-h`, `--version` and `health`.
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
            case "health" where result.command == .serve: result.command = .health
            default: try result.take(argument, &rest, keys)
            }
        }
        return result
    }

    private mutating func take(
        _ argument: String, _ rest: inout ArraySlice<String>, _ keys: [any ConfigurationKeyDescription]
    ) throws(UsageError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let flag = parts.first.map(String.init) ?? argument
        guard let key = keys.first(where: { $0.flags.contains(flag) }) else {
            throw UsageError(description: ServiceArguments.unknown(flag, keys))
        }
        if parts.count == 2 {
            flags[key.name] = String(parts[1])
        } else if let value = rest.first, !value.hasPrefix("--") {
            flags[key.name] = value
            rest.removeFirst()
        } else {
            throw UsageError(description: "\(flag) needs a value: \(flag) \(key.hint)")
        }
    }

    private static func unknown(_ argument: String, _ keys: [any ConfigurationKeyDescription]) -> String {
        let known = keys.flatMap(\.flags) + ["--help", "--version", "health"]
        let kind = argument.hasPrefix("-") ? "option" : "argument"
        guard let nearest = nearest(to: argument, in: known) else { return "unknown \(kind) \(argument)" }
        return "unknown \(kind) \(argument); did you mean \(nearest)?"
    }

    /// The candidate with the fewest edits, if those are few for its length; else the first with the same ending.
    private static func nearest(to text: String, in candidates: [String]) -> String? {
        let ranked = candidates.map { (name: $0, edits: editDistance(Array(text.utf8), Array($0.utf8))) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }) else { return nil }
        if best.edits <= max(2, best.name.count / 3) { return best.name }
        guard text.hasPrefix("--"), text.count > 4 else { return nil }
        return candidates.first { $0.hasSuffix(text.dropFirst()) }
    }

    /// Levenshtein's distance, one row at a time.
    static func editDistance(_ lhs: [UInt8], _ rhs: [UInt8]) -> Int {
        var row = Array(0...rhs.count)
        for (i, left) in lhs.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, right) in rhs.enumerated() {
                let above = row[j + 1]
                row[j + 1] = left == right ? diagonal : 1 + min(diagonal, above, row[j])
                diagonal = above
            }
        }
        return row[rhs.count]
    }
}

/// What `--help` and `--version` say of a service.
struct ServiceUsage: Sendable {
    let name: String
    let summary: String
    /// With the logging keys, in the order shown.
    let keys: [any ConfigurationKeyDescription]

    init(name: String, summary: String, keys: [any ConfigurationKeyDescription]) {
        self.name = name
        self.summary = summary
        var names = Set<String>()
        let logging: [any ConfigurationKeyDescription] = [ConfigurationKeys.logLevel, ConfigurationKeys.logFormat]
        self.keys = (keys + logging).filter { names.insert($0.name).inserted }
    }

    /// `ingest 0.1.0 (Swift 6.3)` and a line end.
    var version: String { "\(name) \(SecurePushVersion.current) (Swift \(SecurePushVersion.swift))\n" }

    /// At most 100 columns wide.
    var help: String {
        var rows = keys.map { key in (left: "\(key.flag) \(key.hint)", right: description(of: key)) }
        rows.append((left: "-h, --help", right: "Show this and exit."))
        rows.append((left: "--version", right: "Show the version and exit."))
        // A flag that is longer than the column has its text below it.
        let column = min(38, (rows.map(\.left.count).max() ?? 0) + 4)
        let options = rows.map { row in
            let lines = row.right.wrapped(to: 100 - column)
            let left = "  " + row.left
            let indent = String(repeating: " ", count: column)
            let gap = left.count < column - 1 ? String(repeating: " ", count: column - left.count) : "\n" + indent
            return left + gap + lines.joined(separator: "\n" + indent)
        }
        return """
            \(summary.wrapped(to: 100).joined(separator: "\n"))

            Usage: \(name) [OPTIONS]
                   \(name) health [OPTIONS]   ask the service's own /livez over loopback; exit 0 or 1

            Options (each is also an environment variable; the option wins):
            \(options.joined(separator: "\n"))

            Durations are a number and ms, s, m, h or d.
            Exit codes: 0 drained, 1 failed, 64 wrong usage, 78 unusable configuration.

            """
    }

    private func description(of key: any ConfigurationKeyDescription) -> String {
        let meaning = "\(key.name): \(key.meaning)." + (key.shortFlag.map { " Also \($0)." } ?? "")
        guard let defaultText = key.defaultText else { return meaning }
        return "\(meaning) Default: \(defaultText)."
    }
}

extension String {
    /// Lines of at most `width` characters, broken at spaces; longer words stand alone.
    func wrapped(to width: Int) -> [String] {
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
