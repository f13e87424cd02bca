import ArgumentParser
import Authentication
import Domain
import Foundation
import Foundations
import SecurePushClient

struct TokenCommand: NetworkCommand, AuditedCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Get a user's token from the retrieval service, or sign one, and print it.",
        discussion: """
            With --signing-key-file the command signs the token itself and contacts no service. This is for tests, \
            which can also need an expired token. With --refresh-token-file it logs in once and keeps the refresh \
            token in the file; later calls use and replace that token and need no password (retrieval's \
            AUTH_REFRESH_TTL).

            EXAMPLES
              securepush token --user alice --password-file alice.password > alice.token
              securepush token --user alice --password-file alice.password \\
                  --refresh-token-file alice.refresh
              securepush token --user alice --signing-key-file signing-key.pem \\
                  --expires-in 5m
              securepush token --user alice --signing-key-file signing-key.pem \\
                  --expires-at 2026-01-01T00:00:00Z
            """)

    @Option(help: ArgumentHelp("The user.", valueName: "name"))
    var user: String

    @Option(
        help: ArgumentHelp("Sign with this key (P-256 in PEM).", valueName: "file"), completion: .file(),
        transform: filePath)
    var signingKeyFile: String?

    @Option(
        help: ArgumentHelp("Expiry time of the signed token (RFC 3339); can be in the past.", valueName: "time"))
    var expiresAt: TimeArgument?

    @Option(help: ArgumentHelp("Lifetime of the signed token (default: 1h).", valueName: "duration"))
    var expiresIn: DurationArgument?

    @Option(help: ArgumentHelp("The issuer of the signed token (AUTH_ISSUER).", valueName: "text"))
    var issuer: String?

    @Option(help: ArgumentHelp("The audience of the signed token (AUTH_AUDIENCE).", valueName: "text"))
    var audience: String?

    @Option(
        help: ArgumentHelp("Keep the refresh token in this file, and use the one in it.", valueName: "file"),
        completion: .file(), transform: filePath)
    var refreshTokenFile: String?

    @OptionGroup var password: PasswordOptions
    @OptionGroup(title: "Service") var retrieval: RetrievalOptions
    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var audited: Audited? { signingKeyFile == nil ? nil : ("token.issue", user) }

    func validate() throws {
        if signingKeyFile == nil && (expiresAt != nil || expiresIn != nil) {
            throw ValidationError("--expires-at and --expires-in need --signing-key-file.")
        }
        if expiresAt != nil && expiresIn != nil {
            throw ValidationError("Give either --expires-at or --expires-in, not both.")
        }
        if signingKeyFile != nil && refreshTokenFile != nil {
            throw ValidationError("Give either --signing-key-file or --refresh-token-file, not both.")
        }
        if signingKeyFile != nil && password.passwordFile != nil {
            throw ValidationError("Give either --signing-key-file or --password-file, not both.")
        }
        if let expiresIn, expiresIn.duration <= .zero { throw ValidationError("--expires-in must be positive.") }
        try UserName.validate(user, of: "--user", as: "user")
    }

    func run(on console: Console) async throws {
        let name = try UserName.parse(user, of: "--user")
        let token = if let signingKeyFile { try sign(name, signingKeyFile) } else { try await request() }
        try console.show(token, token.accessToken)
    }

    /// The response of `POST /api/token` (RFC 6749, 5.1).
    private struct Token: Codable {
        var accessToken: String
        var tokenType: String
        var expiresIn: Int
        var refreshToken: String?

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token", tokenType = "token_type", expiresIn = "expires_in"
            case refreshToken = "refresh_token"
        }
    }

    private func request() async throws -> Token {
        let client = try retrieval.client()
        if let refreshTokenFile, SecretFile.exists(refreshTokenFile) {
            return try await refresh(client, refreshTokenFile)
        }
        let credentials = try ClientCredentials.password(of: user) { try password.password(of: user) }
        let token = try await post(
            try retrieval.client(credentials.authorization),
            hint: "Is the password right? Give it with --password-file or on standard input.")
        return try refreshTokenFile.map { try keep(token, in: $0) } ?? token
    }

    private func refresh(_ client: APIClient, _ file: String) async throws -> Token {
        let text = JSONText.quoted(try SecretText.token(file: file, of: "--refresh-token-file"))
        let token = try await post(
            client, json: #"{"grant_type":"refresh_token","refresh_token":\#(text)}"#,
            hint: "Remove \(file) and log in with the password again.")
        return try keep(token, in: file)
    }

    /// - Parameter hint: for a refusal (401).
    private func post(_ client: APIClient, json: String? = nil, hint: String) async throws -> Token {
        let response = try await client.send(.post, "/api/token", json: json)
        guard response.isSuccess else {
            var failure = ProblemDocument.failure(response, from: client.service)
            if response.status == 401 { failure.hint = hint }
            throw failure
        }
        return try client.decode(Token.self, from: response)
    }

    /// The token that was used cannot be used again, so its successor replaces it.
    ///
    /// - Returns: the token without the refresh token, which is only in the file.
    private func keep(_ token: Token, in file: String) throws -> Token {
        guard let text = token.refreshToken else {
            throw CommandFailure(
                .failed, "The service returned no refresh token.", hint: "Does retrieval have AUTH_REFRESH_TTL?")
        }
        _ = try SecretFile.replace(file, text, mode: 0o600)
        var shown = token
        shown.refreshToken = nil
        return shown
    }

    private func sign(_ name: UserName, _ keyFile: String) throws -> Token {
        let environment = Settings()
        // A token of a user of the users file is bound to the user's password. Users of tests can be in no file.
        let usersFile = try environment["AUTH_USERS_FILE"].flatMap { path -> String? in
            try CommandFailure.naming("AUTH_USERS_FILE") {
                try UsersFile(path: path).list().contains(name) ? path : nil
            }
        }
        let configuration = UserAuthenticationConfiguration(
            issuer: issuer ?? environment["AUTH_ISSUER"], audience: audience ?? environment["AUTH_AUDIENCE"],
            usersFile: usersFile, signingKeyFile: keyFile, tokenTTL: expiresIn?.duration ?? .seconds(3600))
        let token = try TokenIssuer.make(configuration, of: "--signing-key-file")
            .issue(to: name, now: .now, expiresAt: expiresAt?.time)
        return Token(accessToken: token.token, tokenType: "Bearer", expiresIn: token.expiresIn)
    }
}
