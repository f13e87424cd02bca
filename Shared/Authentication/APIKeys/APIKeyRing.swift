public import Logging
public import SecurePushCore

/// Knows the senders by their API keys; reads the file again when it changes.
///
/// While the file cannot be used, callers are refused with `unavailable`: at once when it is gone, else after a minute.
public final class APIKeyRing: Sendable {
    private let file: ReloadingFile<[String: String]>

    /// - Parameter path: the file of ``APIKeysFile``.
    /// - Throws: an error that describes why the file cannot be read or used, naming the line.
    public convenience init(path: String, logger: Logger) throws {
        try self.init(path: path, logger: logger, now: { .now })
    }

    init(path: String, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant) throws {
        file = try ReloadingFile(credentials: path, logger: logger, now: now) {
            try APIKeysFile.keys(CredentialLines($0))
        }
    }

    /// The file, for `/readyz`, metrics and SIGHUP.
    public var source: ReloadableSource { file.source("INGEST_API_KEYS_FILE") }

    /// The name of the sender whose key the header holds (`Bearer KEY`, RFC 6750).
    ///
    /// The key is looked up by its hash: how long that takes tells nothing of any other key.
    ///
    /// - Parameter authorization: the value of the `Authorization` header.
    public func sender(authorization: String?) throws(AuthenticationError) -> String {
        guard let authorization, let header = AuthorizationHeader(authorization), header.scheme == .bearer else {
            throw AuthenticationError(.missing, "An API key is needed.", challenges: [Challenge.bearer])
        }
        guard header.isToken68, header.credentials.utf8.count <= Self.maximumLength else {
            throw Self.refusal(.malformed, "The API key is malformed")
        }
        let hash = APIKey.hash(header.credentials)
        guard let names = file.usable else { throw .credentialsUnusable }
        if let name = names[hash] { return name }
        // A key that was added a moment ago is known at once.
        guard let names = file.refreshedUsable() else { throw .credentialsUnusable }
        guard let name = names[hash] else { throw Self.refusal(.invalid, "The API key is not known") }
        return name
    }

    private static let maximumLength = 1024

    private static func refusal(_ code: AuthenticationError.Code, _ message: String) -> AuthenticationError {
        AuthenticationError(code, message + ".", challenges: [Challenge.invalidToken(message)])
    }
}
