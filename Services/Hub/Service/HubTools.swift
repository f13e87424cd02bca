import Domain
package import Foundations
import Logging
package import OutgoingHTTP
import PushServices
package import Storage

/// A command reports errors itself.
private let silent = Logger(label: "hub") { _ in SwiftLogNoOpLogHandler() }

/// The parts of `hub` that the command line works with: its rules and its credentials.
package enum HubTools {
    /// A rule that a command has made.
    package struct NewRule: Sendable {
        package let name: String
        package let rights: String
        package let key: String
    }

    /// The rules of a new hub, in the order in which they are shown: those that SecurePush's services need, and one for
    /// apps that register themselves.
    private static let newRules = [("dispatcher", "Send"), ("retrieval", "Manage"), ("apps", "Listen")]

    /// Adds the rules of a new hub to a file of rules.
    ///
    /// - Parameter text: of the file; `nil` for a new file.
    /// - Throws: ``SetupError``: `invalidName`, `alreadyExists`, and `malformed` for a file that `hub` could not use.
    package static func adding(
        _ hub: String, to text: String?
    ) throws(SetupError) -> (text: String, rules: [NewRule]) {
        if let problem = HubName.problem(with: hub) { throw SetupError(.invalidName, "\(problem).") }
        var lines = text.map { OutsideText.lines($0) } ?? ["# HUB RULE RIGHTS KEY [SECONDARYKEY]"]
        let hasRules = lines.contains { line in
            let line = OutsideText.trimmed(line)
            return !line.isEmpty && line.utf8.first != UInt8(ascii: "#")
        }
        if let text, hasRules, try HubAccess(text, endpointHost: "").hubs[hub.lowercased()] != nil {
            throw SetupError(.alreadyExists, "the hub \(hub) has rules already.")
        }
        let rules = newRules.map { NewRule(name: $0, rights: $1, key: HubConnectionString.makeKey()) }
        lines += rules.map { "\(hub) \($0.name) \($0.rights) \($0.key)" }
        return (lines.map { $0 + "\n" }.joined(), rules)
    }

    /// The names of the hubs of a file of rules, sorted, as `hub` reads it.
    ///
    /// - Throws: ``FileError`` for a file that `hub` would refuse.
    package static func hubs(ofAccessFile path: String) throws(FileError) -> [String] {
        let content = try FileContent(path: path)
        if let problem = content.privacyProblem { throw FileError(.unreadable, path: path, problem) }
        do throws(SetupError) {
            return try HubAccess(content.text, endpointHost: "").hubs.values.sorted()
        } catch {
            throw FileError(.malformed, path: path, error.message)
        }
    }

    /// A new key for Web Push: the private key in PEM, and the public key in base64url.
    package static func newVAPIDKey() -> (pem: String, publicKey: String) {
        let key = ES256Key()
        return (String(key.pem.dropLast()), key.publicText)
    }

    /// A platform of a hub, with its credentials.
    package struct Platform: Sendable {
        package let hub: String
        /// As in the file: `apns`, `fcm`, `wns` or `webPush`.
        package let name: String
        /// Such as `Web Push`.
        package let title: String
        package let isSimulated: Bool
        /// The connector; `nil` for a simulated platform.
        let connector: @Sendable (any SharedPushTokens) -> (any PushConnector)?

        /// Asks the push service whether the credentials are good; a simulated one has nothing to refuse.
        ///
        /// - Parameter tables: those of the hub, whose token of APNs is used. Without them the check makes one more, and
        ///   APNs takes a new one only every 20 minutes.
        /// - Returns: whether they are good, and the reason if they are not; `nil` if it is not known.
        package func check(
            tables: HubTables?, deadline: ContinuousClock.Instant
        ) async -> (isGood: Bool?, reason: String?) {
            let tokens: any SharedPushTokens =
                tables.map { StoredPushTokens(tables: $0, isReadOnly: true) } ?? LocalPushTokens()
            guard let connector = connector(tokens) else { return (true, nil) }
            let result = await connector.checkCredentials(deadline: deadline)
            await connector.close(deadline: deadline)
            switch result {
            case .good: return (true, nil)
            case .refused(let reason): return (false, reason)
            case .unknown(let reason): return (nil, reason)
            }
        }
    }

    /// The paths that a file of credentials names, as it names them.
    ///
    /// - Throws: ``FileError`` for a file that cannot be read, or that names one that cannot.
    package static func files(namedByCredentialsFile path: String) throws(FileError) -> [String] {
        try PushCredentialsFile(path: path, logger: silent).current.credentials.fileNames
    }

    /// The files with secrets that a file of credentials names and that other users can access, each with the problem.
    ///
    /// - Throws: ``FileError`` for a file that cannot be read, or that names one that cannot.
    package static func openFiles(namedByCredentialsFile path: String) throws(FileError) -> [String] {
        try PushCredentialsFile(path: path, logger: silent).current.credentials.openFiles
    }

    /// The platforms of a file of credentials, sorted, as `hub` reads it.
    ///
    /// - Throws: ``FileError`` for a file that `hub` would refuse.
    package static func platforms(
        ofCredentialsFile path: String, outgoing: OutgoingConfiguration
    ) throws(FileError) -> [Platform] {
        let file = try PushCredentialsFile(path: path, logger: silent)
        return file.current.credentials.hubs.values.sorted { $0.name < $1.name }.flatMap { hub in
            PushPlatform.allCases.compactMap { platform in
                hub.platforms[platform].map { credentials in
                    Platform(
                        hub: hub.name, name: platform.rawValue, title: platform.title,
                        isSimulated: credentials == .simulated
                    ) { tokens in
                        PushConnectors(outgoing: outgoing, tokens: tokens, logger: silent)
                            .connector(credentials, of: hub)
                    }
                }
            }
        }
    }
}
