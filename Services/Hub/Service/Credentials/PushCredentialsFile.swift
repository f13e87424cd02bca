import Foundations
import Logging
import ServiceConfiguration

extension PushCredentials {
    /// The maximum size of the file, in bytes.
    private static let maxBytes = 4 << 20

    /// Reads the text of the file, and the files that it names.
    ///
    /// - Parameter path: of the file; relative paths in it are relative to its folder.
    /// - Throws: ``SetupError`` with every mistake, each by its hub, platform and member.
    init(_ text: String, path: String) throws(SetupError) {
        guard text.utf8.count <= Self.maxBytes else {
            throw SetupError(.malformed, "The file is larger than \(Self.maxBytes >> 20) MiB: name another file.")
        }
        let files = CredentialFiles(besides: path)
        let (hubs, issues) = try Self.read(Array(text.utf8), CredentialRules(files: files))
        guard issues.isEmpty else {
            let shown = issues.entries.prefix(20).map { issue in
                // `/securepush/apns/keyId` becomes `securepush, apns, keyId`.
                let place = issue.pointer.dropFirst().replacing("/", with: ", ")
                return place.isEmpty ? issue.detail : "\(place): \(issue.detail)"
            }
            let rest = issues.entries.count + issues.omitted - shown.count
            throw SetupError(.malformed, (shown + (rest > 0 ? ["\(rest) more."] : [])).joined(separator: " "))
        }
        self.init(hubs: hubs, files: files.versions, fileNames: files.names, openFiles: files.openFiles)
    }

    private static func read(
        _ bytes: [UInt8], _ rules: CredentialRules
    ) throws(SetupError) -> ([String: HubCredentials], MemberIssues) {
        do {
            return try bytes.withUnsafeBufferPointer { bytes in
                var json = try JSONObjectReader(bytes)
                var hubs: [String: HubCredentials] = [:]
                json.freeMembers { name, json in
                    if let problem = HubName.problem(with: name) { return json.note("\(problem).") }
                    guard let hub = json.read(rules.hub(name)) else { return }
                    if hubs.updateValue(hub, forKey: name.lowercased()) != nil { json.note("The hub is repeated.") }
                }
                return (hubs, json.memberIssues)
            }
        } catch {
            throw SetupError(.malformed, "The file is not JSON: \(error).")
        }
    }
}

/// The file of the credentials (`PUSH_CREDENTIALS_FILE`), which is read again when it, or a file that it names,
/// changes. While a changed file cannot be used, the last credentials stay in force.
final class PushCredentialsFile: Sendable {
    private let file: ReloadingFile<PushCredentials>

    /// - Parameter logger: gets an error for each version of the file that cannot be used, and a warning for each file with
    ///   a secret that other users can access.
    /// - Throws: ``FileError`` if the file is missing, unreadable or malformed.
    init(path: String, logger: Logger) throws(FileError) {
        file = try ReloadingFile(
            path: path, others: \.files, logger: logger,
            message: "The changed file of credentials cannot be used; the last credentials stay in force"
        ) { text in
            let credentials = try PushCredentials(text, path: path)
            for problem in credentials.openFiles {
                logger.warning("A file that the file of credentials names is not private: \(problem)")
            }
            return credentials
        }
    }

    /// The credentials in force, and a number that grows with each change.
    var current: (credentials: PushCredentials, changes: Int) {
        // A change in between gives the newer credentials an older number, which the next look corrects.
        let changes = file.changes
        return (file.current, changes)
    }

    /// Reads the file now, and returns why it cannot be used, if so.
    func reread() -> FileError? { file.problemAfterReload() }

    /// For readiness, metrics and SIGHUP.
    var source: ReloadableSource { file.source(ConfigurationKeys.pushCredentialsFile.name) }
}
