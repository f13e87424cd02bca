import ArgumentParser
import Authentication
import Foundation
import SecurePushCore

struct TokenCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Get a user's token from the retrieval service, or sign one; prints it.",
        discussion: """
            With --signing-key-file the token is signed here and no service is asked: an operator's tool for tests,
            where a token may also be one that has expired already.

            EXAMPLES
              securepush token --user alice --password-file alice.password > alice.token
              securepush token --user alice --signing-key-file signing-key.pem --expires-in 5m
              securepush token --user alice --signing-key-file signing-key.pem --expires-at 2026-01-01T00:00:00Z
            """)

    @Option(help: ArgumentHelp("The user.", valueName: "name"))
    var user: String

    @Option(help: ArgumentHelp("Sign with this key (PKCS#8 PEM, P-256).", valueName: "file"))
    var signingKeyFile: String?

    @Option(help: ArgumentHelp("When the signed token expires (RFC 3339); may be past.", valueName: "time"))
    var expiresAt: TimeArgument?

    @Option(help: ArgumentHelp("How long the signed token holds; 1h when left out.", valueName: "duration"))
    var expiresIn: DurationArgument?

    @Option(help: ArgumentHelp("The token's issuer (AUTH_ISSUER).", valueName: "text"))
    var issuer: String?

    @Option(help: ArgumentHelp("The token's audience (AUTH_AUDIENCE).", valueName: "text"))
    var audience: String?

    @OptionGroup var password: PasswordOptions
    @OptionGroup(title: "Service") var retrieval: RetrievalOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if signingKeyFile == nil && (expiresAt != nil || expiresIn != nil) {
            throw ValidationError("The service decides when its tokens expire; --expires-… need --signing-key-file.")
        }
        if expiresAt != nil && expiresIn != nil {
            throw ValidationError("Give one of --expires-at and --expires-in, not both.")
        }
    }

    func run(on console: Console) async throws {
        let name = try UserName.parse(user)
        let answer = if let signingKeyFile { try sign(name, signingKeyFile) } else { try await request() }
        try console.show(answer, answer.access_token)
    }

    /// The form of OAuth's token answers (RFC 6749, 5.1), which `POST /api/token` has too.
    struct Answer: Codable, Equatable {
        var access_token: String
        var token_type: String
        var expires_in: Int
    }

    private func request() async throws -> Answer {
        let client = try retrieval.client()
        let credentials = Credentials.basic(user: user, password: try password.password(of: user))
        let answer = try await client.send(.post, "/api/token", authorization: credentials.authorization)
        guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: client.service) }
        guard let token = try? JSONText.decode(Answer.self, from: answer.body) else {
            throw CommandFailure(.failed, "retrieval's answer holds no token")
        }
        return token
    }

    private func sign(_ name: UserName, _ keyFile: String) throws -> Answer {
        let environment = ProcessInfo.processInfo.environment
        // The token of a user of the file ends with the user's password; a test's user may be in no file.
        let usersFile = try environment["AUTH_USERS_FILE"].flatMap { path in
            try UsersFile(path: path).list().contains(name) ? path : nil
        }
        let configuration = UserAuthenticationConfiguration(
            issuer: issuer ?? environment["AUTH_ISSUER"], audience: audience ?? environment["AUTH_AUDIENCE"],
            usersFile: usersFile, signingKeyFile: keyFile, tokenTTL: expiresIn?.duration ?? .seconds(3600))
        guard let tokens = try TokenIssuer(configuration: configuration) else {
            throw CommandFailure(.configuration, "\(keyFile) holds no signing key")
        }
        let token = try tokens.issue(to: name, now: .now, expiresAt: expiresAt?.time)
        return Answer(access_token: token.token, token_type: "Bearer", expires_in: token.expiresIn)
    }
}
