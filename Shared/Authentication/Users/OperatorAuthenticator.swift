package import Domain
package import Foundations
package import Logging

/// Authenticates the operator of a service by a password (`Basic`, RFC 7617), with the user name `admin`.
///
/// The file has the password, or its hash in the form of ``PasswordHash``. It is read again when it changes. Checks
/// wait in the same kind of queue as those of users, and repeated failures are delayed and refused in the same way.
/// Other user names are refused without a check.
package final class OperatorAuthenticator: Sendable {
    /// The name of the operator.
    package static let name = "admin"

    private let passwords: PasswordVerifier
    /// The file, for `/readyz`, metrics and SIGHUP.
    package let source: ReloadableSource

    /// Reads the file.
    ///
    /// - Throws: ``FileError`` if it cannot be used.
    package init(passwordFile: String, logger: Logger) throws {
        let file = try ReloadingFile(credentials: passwordFile, logger: logger, now: { .now }) { text in
            try UserPasswords("\(Self.name) \(Self.hash(text))")
        }
        source = file.source("ADMIN_PASSWORD_FILE")
        passwords = PasswordVerifier(
            file: file, log: PasswordLog(logger: logger), onlyUser: UserName(Self.name), now: { .now })
    }

    /// Returns if these are the operator's credentials.
    ///
    /// - Parameters:
    ///   - authorization: the value of the `Authorization` header.
    ///   - client: the address of the client, for the limits on wrong passwords.
    /// - Throws: ``AuthenticationError``, whose answer it describes.
    package func authenticate(
        authorization: String?, from client: ClientAddress?
    ) async throws(AuthenticationError) {
        guard let authorization, let header = AuthorizationHeader(authorization), header.scheme == .basic else {
            throw AuthenticationError(.missing, "Credentials are required.", challenges: [Self.challenge])
        }
        do {
            _ = try await passwords.verify(header, from: client)
        } catch {
            if error.code == .unavailable || error.code == .throttled { throw error }
            throw error.with(challenges: [Self.challenge])
        }
    }

    private static let challenge = #"Basic realm="securepush operator", charset="UTF-8""#

    /// The hash of the file's text, which is a hash already or a password.
    private static func hash(_ text: String) throws -> String {
        let lines = OutsideText.lines(text).map { OutsideText.trimmedEnd($0) }.filter { !$0.isEmpty }
        guard let line = lines.first, lines.count == 1, OutsideText.controlCharacter(in: line) == nil else {
            throw SetupError(
                .malformed, "the file must have one line without control characters: a password or its scrypt hash")
        }
        guard line.utf8.starts(with: "$scrypt$".utf8) else { return try PasswordHash.make(password: line) }
        return String(Substring(line.utf8.prefix { $0 != UInt8(ascii: " ") }))
    }
}
