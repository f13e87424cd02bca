import Foundations
import Logging
import ServiceConfiguration

/// The hubs that exist and who may use them, as a version of `HUB_ACCESS_FILE` says: one rule per line,
/// `HUB RULE RIGHTS KEY [SECONDARYKEY]`. A rule of the hub `*` is valid for every hub. Empty lines and lines that begin
/// with `#` are ignored.
///
/// It remembers tokens that it has verified. A new version starts without them.
final class HubAccess: Sendable {
    /// The maximum number of hubs, and of rules in all.
    static let maxHubs = 1000
    static let maxRules = 10_000
    private static let maxBytes = 8 << 20
    private static let maxLineBytes = 4096
    /// The limits of Azure's rules.
    private static let maxRuleNameBytes = 256
    private static let maxKeyBytes = 256
    /// A shorter key could be guessed.
    private static let minKeyBytes = 16
    /// The maximum number of mistakes that one error lists.
    private static let maxProblems = 20

    /// The names of the hubs as they are written, by their names in lower case.
    let hubs: [String: String]
    /// Checks tokens under the rules of every hub.
    let forAll: HubAuthorizer
    private let byHub: [String: HubAuthorizer]

    /// Checks tokens under the rules of one hub; `nil` if there is no such hub.
    ///
    /// - Parameter hubKey: the name in lower case.
    subscript(_ hubKey: String) -> HubAuthorizer? { byHub[hubKey] }

    /// Reads the text of the file.
    ///
    /// - Parameter endpointHost: a host that tokens may name besides that of the request.
    /// - Throws: an error that names each wrong line by its number, and shows nothing of it.
    init(_ text: String, endpointHost: String) throws(SetupError) {
        guard text.utf8.count <= Self.maxBytes else {
            throw SetupError(.malformed, "The file is larger than \(Self.maxBytes >> 20) MiB: name another file.")
        }
        var names: [String: String] = [:]
        var rules: [String: [SharedAccessRule]] = [:]
        var lines: [[String]: Int] = [:]
        var problems: [String] = []
        for (index, line) in OutsideText.lines(text).enumerated() {
            do throws(SetupError) {
                guard let (hub, rule) = try Self.rule(line) else { continue }
                let key = hub.lowercased()
                if let earlier = lines.updateValue(index + 1, forKey: [key, rule.name]) {
                    throw SetupError(.malformed, "it has the hub and the rule of line \(earlier) again.")
                }
                if key != Self.every { names[key] = names[key] ?? hub }
                rules[key, default: []].append(rule)
            } catch {
                problems.append("Line \(index + 1): \(error.message)")
            }
        }
        if names.isEmpty, problems.isEmpty {
            problems.append("The file names no hub: add one with `securepush hub create NAME`.")
        }
        if names.count > Self.maxHubs { problems.append("The file has more than \(Self.maxHubs) hubs.") }
        if lines.count > Self.maxRules { problems.append("The file has more than \(Self.maxRules) rules.") }
        if problems.count > Self.maxProblems {
            problems = problems.prefix(Self.maxProblems) + ["\(problems.count - Self.maxProblems) more."]
        }
        guard problems.isEmpty else { throw SetupError(.malformed, problems.joined(separator: " ")) }
        hubs = names
        forAll = HubAuthorizer(rules: rules[Self.every] ?? [], endpointHost: endpointHost)
        byHub = names.keys.reduce(into: [:]) { authorizers, key in
            authorizers[key] = HubAuthorizer(rules: rules[key] ?? [], endpointHost: endpointHost)
        }
    }

    private static let every = "*"
    private static let ruleNameBytes = ByteSet.alphanumerics.union(ByteSet("-._"))

    /// - Returns: `nil` for a line without a rule.
    private static func rule(_ line: String) throws(SetupError) -> (hub: String, rule: SharedAccessRule)? {
        let line = OutsideText.trimmed(line)
        if line.isEmpty || line.utf8.first == UInt8(ascii: "#") { return nil }
        guard line.utf8.count <= maxLineBytes else {
            throw SetupError(.malformed, "it is longer than \(maxLineBytes) bytes.")
        }
        let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let parts = line.utf8.split(whereSeparator: blanks.contains).map { String(Substring($0)) }
        guard (4...5).contains(parts.count) else {
            throw SetupError(.malformed, "it is not HUB RULE RIGHTS KEY, with or without a SECONDARYKEY.")
        }
        if parts[0] != every, let problem = HubName.problem(with: parts[0]) {
            throw SetupError(.malformed, "\(problem).")
        }
        guard (1...maxRuleNameBytes).contains(parts[1].utf8.count), ruleNameBytes.containsAll(parts[1]) else {
            throw SetupError(
                .malformed, "the name of the rule is not 1 to \(maxRuleNameBytes) letters, digits, -, . and _.")
        }
        guard let rights = AccessRights(text: parts[2]) else {
            throw SetupError(.malformed, "the rights are not Listen, Send or Manage, joined by +.")
        }
        guard parts[3...].allSatisfy(isKey) else {
            throw SetupError(.malformed, "a key is not Base64 of \(minKeyBytes) bytes or more.")
        }
        let rule = SharedAccessRule(
            name: parts[1], primaryKey: parts[3], secondaryKey: parts.count == 5 ? parts[4] : nil, rights: rights)
        return (parts[0], rule)
    }

    private static func isKey(_ text: String) -> Bool {
        guard text.utf8.count <= maxKeyBytes, let bytes = Base64.decode(text, .standard) else { return false }
        return bytes.count >= minKeyBytes
    }
}

extension AccessRights {
    /// Reads `Listen`, `Send` and `Manage` joined by `+`, in any case. `Manage` includes the others.
    ///
    /// - Returns: `nil` for any other text.
    init?(text: String) {
        self = []
        for part in OutsideText.parts(text, at: "+") {
            switch part.lowercased() {
            case "listen": insert(.listen)
            case "send": insert(.send)
            case "manage": formUnion(.full)
            default: return nil
            }
        }
    }
}

/// The file of the rules (`HUB_ACCESS_FILE`), which is read again when it changes. While a changed file cannot be used,
/// the last rules stay in force.
final class HubAccessFile: Sendable {
    private let file: ReloadingFile<HubAccess>

    /// - Parameters:
    ///   - endpointHost: see ``HubAccess/init(_:endpointHost:)``.
    ///   - logger: gets an error for each version of the file that cannot be used.
    /// - Throws: ``FileError`` if the file is missing, readable by other users, or malformed.
    init(path: String, endpointHost: String, logger: Logger) throws(FileError) {
        file = try ReloadingFile(
            path: path, isPrivate: true, logger: logger,
            message: "The changed file of the hub's rules cannot be used; the last rules stay in force"
        ) { try HubAccess($0, endpointHost: endpointHost) }
    }

    /// The rules in force.
    var current: HubAccess { file.current }

    /// For readiness, metrics and SIGHUP.
    var source: ReloadableSource { file.source(ConfigurationKeys.hubAccessFile.name) }
}
