package import Domain
package import Foundations
package import Logging

/// Authenticates senders by their API keys. Reads the file again when it changes.
///
/// While the file cannot be used, callers are refused with `unavailable`: at once if it was deleted, otherwise after
/// one minute.
package final class APIKeyRing: Sendable {
    private let file: ReloadingFile<[String: String]>

    /// Reads the file.
    ///
    /// - Parameters:
    ///   - path: the path of a file as ``APIKeysFile`` describes it.
    ///   - logger: gets an error when a changed file cannot be used.
    /// - Throws: an error that describes why the file cannot be used, with the number of the line.
    package convenience init(path: String, logger: Logger) throws {
        try self.init(path: path, logger: logger, now: { .now })
    }

    init(path: String, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant) throws {
        file = try ReloadingFile(credentials: path, logger: logger, now: now) {
            try APIKeysFile.keys(CredentialLines($0))
        }
    }

    /// The file, for `/readyz`, metrics and SIGHUP.
    package var source: ReloadableSource { file.source("INGEST_API_KEYS_FILE") }

    /// Reads the file again, because an unknown key may just have been added.
    package func check() async { await file.check() }

    /// The name of the sender whose key is in the header (`Bearer KEY`, RFC 6750).
    ///
    /// The key is looked up by its hash, so the time that this takes reveals nothing about other keys.
    ///
    /// - Parameter authorization: the value of the `Authorization` header.
    package func sender(authorization: String?) throws(AuthenticationError) -> String {
        guard let authorization, let header = AuthorizationHeader(authorization), header.scheme == .bearer else {
            throw AuthenticationError(.missing, "An API key is required.", challenges: [Challenge.bearer])
        }
        guard header.isToken68, header.credentials.utf8.count <= Self.maxLength else {
            throw Self.refusal(.malformed, "The API key is malformed")
        }
        let hash = APIKey.hash(header.credentials)
        guard let names = file.usable else { throw .credentialsUnusable }
        if let name = names[hash] { return name }
        // Without a service nobody watches the file. In one, ``check()`` looks at it.
        guard let names = file.refreshedUsable() else { throw .credentialsUnusable }
        guard let name = names[hash] else { throw Self.refusal(.invalid, "The API key is not known") }
        return name
    }

    private static let maxLength = 1024

    private static func refusal(_ code: AuthenticationError.Code, _ message: String) -> AuthenticationError {
        AuthenticationError(code, message + ".", challenges: [Challenge.invalidToken(message)])
    }
}
