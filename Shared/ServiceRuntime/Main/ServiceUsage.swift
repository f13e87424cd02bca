import Foundations
import ServiceConfiguration

/// The texts of `--help` and `--version` of a service.
struct ServiceUsage: Sendable {
    let name: String
    let summary: String
    let isTraced: Bool
    /// The service's keys and those of logging, in the order of the help.
    let keys: [any ConfigurationKeyDescription]

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

extension ServiceUsage {
    /// The keys are those that `read` reads, and those that ``ServiceMain`` reads itself.
    init(name: String, summary: String, isTraced: Bool = false, read: (inout ConfigurationReader) -> Void) {
        (self.name, self.summary, self.isTraced) = (name, summary, isTraced)
        keys = ConfigurationReader.keys { reader in
            read(&reader)
            ServiceMain.readShared(&reader, isTraced: isTraced)
        }
    }
}

extension ServiceUsage {
    /// The help in the form of ArgumentParser's `--experimental-dump-help`, from which `scripts/man-pages.py` makes the
    /// manual page.
    var dump: String {
        var json = JSONWriter()
        json.object { json in
            json.member("serializationVersion", 0)
            json.object("command") { json in
                json.member("commandName", name)
                json.member("abstract", summary)
                json.member("discussion", "")
                json.array("arguments") { json in
                    for key in keys { Self.write(key, to: &json) }
                }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }

    private static func write(_ key: any ConfigurationKeyDescription, to json: inout JSONWriter) {
        json.object { json in
            json.member("kind", "option")
            json.array("names") { json in
                for flag in key.flags {
                    json.object { json in
                        json.member("kind", "long")
                        json.member("name", String(flag.dropFirst(2)))
                    }
                }
            }
            json.member("valueName", key.hint)
            json.member("abstract", key.meaning + ".")
            if let defaultText = key.defaultText { json.member("defaultValue", defaultText) }
            // Not in ArgumentParser's form.
            json.member("environment", key.name)
        }
    }
}
