import ArgumentParser
import ServiceConfiguration
import ServiceRuntime

/// The settings of a service as options: `--http-port` for `HTTP_PORT`.
///
/// The argument parser finds the options of a type in its mirror. This mirror has an option for each key that the service
/// reads, so a setting is declared once, in ``ConfigurationKeys``.
///
/// Decision: docs/decisions/0036-flags-by-argumentparser.md
struct SettingOptions<Program: ServiceProgram>: ParsableArguments, CustomReflectable {
    /// The given values by key name.
    private(set) var values: [String: String] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        for key in Program.keys {
            values[key.name] = try container.decodeIfPresent(String.self, forKey: Name(stringValue: key.name))
        }
    }

    var customMirror: Mirror {
        Mirror(self, children: Program.keys.map { (label: $0.name, value: Self.option(for: $0)) })
    }

    private static func option(for key: any ConfigurationKeyDescription) -> Option<String?> {
        let names = key.flags.map { NameSpecification.Element.customLong(String($0.dropFirst(2))) }
        let standard = key.defaultText.map { " Default: \($0)." } ?? ""
        return Option(
            name: NameSpecification(names),
            help: ArgumentHelp("\(key.name): \(key.meaning).\(standard)", valueName: key.hint),
            completion: key.hint == "FILE" || key.name.hasSuffix("_FILE") ? .file() : .default)
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}
