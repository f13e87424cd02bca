import ArgumentParser
import Foundation

/// Where the ingest service is, and the sender's API key.
struct IngestOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The ingest service (INGEST_URL; http://127.0.0.1:8080).", valueName: "url"))
    var ingestURL: String?

    @Option(
        name: .customLong("api-key-file"),
        help: ArgumentHelp("A file with the API key (else INGEST_API_KEY).", valueName: "file"))
    var apiKeyFile: String?

    @Option(help: ArgumentHelp("Give up after this time.", valueName: "duration"))
    var timeout = DurationArgument(.seconds(30))

    func client(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws -> APIClient {
        let url = ingestURL ?? environment["INGEST_URL"] ?? "http://127.0.0.1:8080"
        return try APIClient(service: "ingest", url: url, timeout: timeout.duration)
    }

    func credentials(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Credentials {
        if let apiKeyFile { return .bearer(try SecretFile.read(apiKeyFile)) }
        if let key = environment["INGEST_API_KEY"], !key.isEmpty { return .bearer(key) }
        throw CommandFailure(
            .configuration, "There is no API key.",
            hint: "Name its file by --api-key-file, or set INGEST_API_KEY; `securepush api-keys add NAME` makes one.")
    }
}

/// Where the retrieval service is.
struct RetrievalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The retrieval service (RETRIEVAL_URL; http://127.0.0.1:8081).", valueName: "url"))
    var retrievalURL: String?

    func client(
        timeout: Duration = .seconds(30), _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> APIClient {
        let url = retrievalURL ?? environment["RETRIEVAL_URL"] ?? "http://127.0.0.1:8081"
        return try APIClient(service: "retrieval", url: url, timeout: timeout)
    }
}

/// What a user presents to the retrieval service: a file that is given, else the environment's token.
struct UserCredentialOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A file with the user's password.", valueName: "file"))
    var passwordFile: String?

    @Option(help: ArgumentHelp("A file with the user's token (else RETRIEVAL_TOKEN).", valueName: "file"))
    var tokenFile: String?

    func validate() throws {
        if passwordFile != nil && tokenFile != nil {
            throw ValidationError("Give one of --password-file and --token-file, not both.")
        }
    }

    func credentials(
        of user: String, _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> Credentials {
        if let passwordFile { return .basic(user: user, password: try SecretFile.read(passwordFile)) }
        if let tokenFile { return try Self.bearer(SecretFile.read(tokenFile), of: user, from: tokenFile) }
        if let token = environment["RETRIEVAL_TOKEN"], !token.isEmpty {
            return try Self.bearer(token, of: user, from: "RETRIEVAL_TOKEN")
        }
        throw CommandFailure(
            .configuration, "There are no credentials of \(user.printable).",
            hint: "Name a file by --password-file or --token-file, or set RETRIEVAL_TOKEN (securepush token makes one)."
        )
    }

    /// The service goes by the token alone. So a token of another user than `--user` would act for that other one.
    ///
    /// - Throws: ``CommandFailure`` with code `usage` where the token says that it is another user's. A token that
    ///   cannot be read is the service's to refuse.
    private static func bearer(_ token: String, of user: String, from source: String) throws -> Credentials {
        if let subject = subject(of: token), !subject.utf8.elementsEqual(user.utf8) {
            throw CommandFailure(
                .usage, "The token of \(source.printable) is \(subject.printable)'s, not \(user.printable)'s.",
                hint: "Give --user \(subject.printable), or a token of \(user.printable).")
        }
        return .bearer(token)
    }

    /// The claim `sub` of a JWT (RFC 7519, section 4.1.2), unverified.
    private static func subject(of token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: text) else { return nil }
        let claims = String(decoding: bytes, as: UTF8.self)
        return JSONText.member("sub", of: claims).flatMap(JSONText.string)
    }
}

/// What a request presents in `Authorization`.
enum Credentials: Sendable, Equatable {
    /// A device's token, or a sender's API key.
    case bearer(String)
    case basic(user: String, password: String)

    /// The header's value (RFC 6750, 2.1; RFC 7617, 2, in UTF-8).
    var authorization: String {
        switch self {
        case .bearer(let token): "Bearer \(token)"
        case .basic(let user, let password): "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
        }
    }
}
