import ServiceConfiguration

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
