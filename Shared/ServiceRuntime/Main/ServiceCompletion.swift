import SecurePushCore
import ServiceConfiguration

/// A shell that ``ServiceCompletion`` writes for.
enum CompletionShell: String, CaseIterable, Sendable, Hashable {
    case bash
    case zsh
    case fish
}

/// The completion scripts of a service, made from its keys, as the command line `securepush` has them.
///
/// A setting of a file completes file names, and one of a list of words completes these.
struct ServiceCompletion {
    let usage: ServiceUsage

    /// The words after a flag.
    private enum Values {
        case file
        case words([String])
        case none

        init(_ key: any ConfigurationKeyDescription) {
            self = !key.choices.isEmpty ? .words(key.choices) : ["FILE", "FOLDERS"].contains(key.hint) ? .file : .none
        }
    }

    private var flags: [(key: any ConfigurationKeyDescription, flag: String)] {
        usage.keys.flatMap { key in key.flags.map { (key, $0) } }
    }

    /// The words that are no settings, with their meaning.
    private static let fixed = [
        ("health", "Check a running service"), ("--help", "Show the help"), ("--version", "Show the version"),
    ]

    /// The script that the shell reads.
    func script(for shell: CompletionShell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// The name of a shell's function: `_hub_emulator`.
    private var function: String { "_" + usage.name.split(separator: "-").joined(separator: "_") }

    private var bash: String {
        var cases: [String] = []
        for (key, flag) in flags {
            switch Values(key) {
            case .file: cases.append("        \(flag)) COMPREPLY=($(compgen -f -- \"$word\")); return ;;")
            case .words(let words):
                let list = words.joined(separator: " ")
                cases.append("        \(flag)) COMPREPLY=($(compgen -W \"\(list)\" -- \"$word\")); return ;;")
            case .none: cases.append("        \(flag)) return ;;")
            }
        }
        let words = (Self.fixed.map(\.0) + flags.map(\.flag)).joined(separator: " ")
        return """
            # Completion of \(usage.name) for bash. Made by \(usage.name) --generate-completion-script bash
            \(function)() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
                case $before in
            \(cases.joined(separator: "\n"))
                esac
                COMPREPLY=($(compgen -W "\(words)" -- "$word"))
            }
            complete -o filenames -F \(function) \(usage.name)

            """
    }

    private var zsh: String {
        var lines = Self.fixed.dropFirst().map { "    '\($0.0)[\($0.1)]'" }
        for (key, flag) in flags {
            let action =
                switch Values(key) {
                case .file: "_files"
                case .words(let words): "(\(words.joined(separator: " ")))"
                case .none: " "
                }
            lines.append("    '\(flag)[\(Self.quoted(key.meaning))]:\(key.hint):\(action)'")
        }
        return """
            #compdef \(usage.name)
            # Completion of \(usage.name) for zsh. Made by \(usage.name) --generate-completion-script zsh
            \(function)() {
                _arguments \\
            \(lines.map { "    \($0) \\\n" }.joined())        '1::command:(health)'
            }
            if [ "$funcstack[1]" = \(function) ]; then \(function) "$@"; else compdef \(function) \(usage.name); fi

            """
    }

    private var fish: String {
        var lines = ["complete -c \(usage.name) -f"]
        lines.append("complete -c \(usage.name) -n __fish_use_subcommand -a health -d '\(Self.fixed[0].1)'")
        for (word, meaning) in Self.fixed.dropFirst() {
            lines.append("complete -c \(usage.name) -l \(word.dropFirst(2)) -d '\(meaning)'")
        }
        for (key, flag) in flags {
            let values =
                switch Values(key) {
                case .file: " -F"
                case .words(let words): " -a '\(words.joined(separator: " "))'"
                case .none: ""
                }
            let meaning = Self.quoted(key.meaning)
            lines.append("complete -c \(usage.name) -l \(flag.dropFirst(2)) -r\(values) -d '\(meaning)'")
        }
        return "# Completion of \(usage.name) for fish. Made by \(usage.name) --generate-completion-script fish\n"
            + lines.joined(separator: "\n") + "\n"
    }

    /// The first clause of a meaning, without what shells or their formats read.
    private static func quoted(_ text: String) -> String {
        let clause = text.prefix { $0 != ";" && $0 != ":" && $0 != "(" }
        return String(clause.filter { !"'[]\\$`\"".contains($0) }.prefix(80))
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
