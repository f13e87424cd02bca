import ArgumentParser
import Foundation
import Foundations
import SecurePushClient

/// The URL of the ingest service, and the sender's API key.
struct IngestOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The ingest service (INGEST_URL; http://127.0.0.1:8080).", valueName: "url"))
    var ingestURL: String?

    @Option(
        name: .customLong("api-key-file"),
        help: ArgumentHelp("A file with the API key (default: INGEST_API_KEY).", valueName: "file"),
        completion: .file(), transform: filePath
    )
    var apiKeyFile: String?

    @Option(help: ArgumentHelp("Give up after this time.", valueName: "duration"))
    var timeout = DurationArgument(.seconds(30))

    /// A client with the sender's API key.
    func client() throws -> APIClient {
        var client = try ServiceURL.ingest.client(ingestURL, timeout: timeout.duration)
        client.authorization = try authorization()
        return client
    }

    private func authorization() throws -> String {
        if let apiKeyFile {
            return try ClientCredentials.bearer(file: apiKeyFile, of: "--api-key-file").authorization
        }
        if let key = try ClientCredentials.bearer(setting: "INGEST_API_KEY") { return key.authorization }
        throw CommandFailure(
            .configuration, "There is no API key.",
            hint: "Give its file with --api-key-file, or set INGEST_API_KEY or INGEST_API_KEY_FILE. "
                + "`securepush api-keys add NAME` makes one.")
    }
}

/// A command of a sender, which asks ingest.
protocol SenderCommand: NetworkCommand { var sender: SenderOptions { get } }

extension SenderCommand {
    var ingest: IngestOptions { sender.ingest }
    var network: NetworkOptions { sender.network }
    var output: OutputOptions { sender.output }
}

struct SenderOptions: ParsableArguments {
    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions
}

struct RetrievalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The retrieval service (RETRIEVAL_URL; http://127.0.0.1:8081).", valueName: "url"))
    var retrievalURL: String?

    func client(_ authorization: String? = nil, timeout: Duration = .seconds(30)) throws -> APIClient {
        var client = try ServiceURL.retrieval.client(retrievalURL, timeout: timeout)
        client.authorization = authorization
        return client
    }
}

struct EmulatorOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The hub emulator (HUB_EMULATOR_URL; http://127.0.0.1:8090).", valueName: "url"))
    var emulatorURL: String?

    func client(timeout: Duration = .seconds(30)) throws -> APIClient {
        try ServiceURL.hubEmulator.client(emulatorURL, timeout: timeout)
    }
}

/// A service, the environment variable and the option with its URL, and its default URL.
struct ServiceURL: Sendable {
    let service: String
    let key: String
    /// The option of the commands, for messages.
    let option: String
    let standard: String

    static let ingest = ServiceURL(
        service: "ingest", key: "INGEST_URL", option: "--ingest-url", standard: "http://127.0.0.1:8080")
    static let retrieval = ServiceURL(
        service: "retrieval", key: "RETRIEVAL_URL", option: "--retrieval-url", standard: "http://127.0.0.1:8081")
    static let dispatcher = ServiceURL(
        service: "dispatcher", key: "DISPATCHER_URL", option: "--dispatcher", standard: "http://127.0.0.1:8082")
    static let hub = ServiceURL(
        service: "hub", key: "HUB_URL", option: "--hub-url", standard: "http://127.0.0.1:8085")
    static let hubEmulator = ServiceURL(
        service: "hub-emulator", key: "HUB_EMULATOR_URL", option: "--emulator-url", standard: "http://127.0.0.1:8090")

    /// The URL of the flag, else of the environment, else the default.
    func url(_ flag: String?) -> String { flag.map { OutsideText.trimmed($0) } ?? Settings()[key] ?? standard }

    func client(_ flag: String?, timeout: Duration) throws -> APIClient {
        try APIClient(service: service, url: url(flag), from: flag == nil ? key : option, timeout: timeout)
    }

    /// The URLs of a setting that can name several services, separated by commas.
    static func list(_ text: String) -> [String] {
        OutsideText.parts(text, at: ",").map { OutsideText.trimmed($0) }.filter { !$0.isEmpty }
    }
}

/// A bearer token is also a sender's API key.
extension ClientCredentials {
    /// A user's password.
    ///
    /// - Parameter password: is not asked for if the user can have none.
    /// - Throws: ``CommandFailure`` with code `usage` for a name that the service would read as another one.
    static func password(of user: String, _ password: () throws -> String) throws -> ClientCredentials {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw CommandFailure(
                .usage, "--user: a user who logs in with a password cannot have a colon in the name.",
                hint: "Basic credentials end the name at the first colon. Use a token.")
        }
        return .basic(userName: user, password: try password())
    }

    /// The token or API key of a file that an option names.
    ///
    /// - Throws: ``CommandFailure`` that names the option, with code `usage` if the text can be no token.
    static func bearer(file: String, of option: String) throws -> ClientCredentials {
        .bearer(try SecretText.token(file: file, of: option))
    }

    /// The token or API key of a variable, or of the file that `KEY_FILE` names; `nil` if neither is set.
    ///
    /// - Throws: ``CommandFailure`` that names the variable, with code `configuration` if the text can be no token.
    static func bearer(setting key: String, _ settings: Settings = Settings()) throws -> ClientCredentials? {
        try settings.secret(key) { try SecretText.token($0, of: $1, .configuration) }.map { .bearer($0) }
    }
}

/// Checks a credential where it is read, so that no library meets one that it would refuse with its whole text.
enum SecretText {
    /// A password or another secret on one line.
    ///
    /// - Parameter origin: the option or the variable, for the message. The message never shows the value.
    static func line(_ text: String, of origin: String, _ code: CommandFailure.Code) throws -> String {
        guard let control = OutsideText.controlCharacter(in: text) else { return text }
        throw CommandFailure(
            code, "\(origin) holds a control character (\(OutsideText.name(of: control))) inside the value. Remove it.")
    }

    static func line(file: String, of option: String) throws -> String {
        try line(try SecretFile.read(file, of: option), of: option, .usage)
    }

    static func token(file: String, of option: String) throws -> String {
        try token(try SecretFile.read(file, of: option), of: option, .usage)
    }

    /// A token or an API key, which consist of visible ASCII characters (RFC 6750, 2.1).
    static func token(_ text: String, of origin: String, _ code: CommandFailure.Code) throws -> String {
        let text = try line(OutsideText.trimmed(text), of: origin, code)
        guard !text.isEmpty, ByteSet.visible.containsAll(text) else {
            throw CommandFailure(
                code, "\(origin) holds a blank or another character that no token and no API key has. Copy it again.")
        }
        return text
    }
}

/// The credentials of a user of the retrieval service: those of the given file, otherwise the token of the environment.
struct UserCredentialOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("A file with the user's password.", valueName: "file"), completion: .file(),
        transform: filePath)
    var passwordFile: String?

    @Option(
        help: ArgumentHelp("A file with the user's token (default: RETRIEVAL_TOKEN).", valueName: "file"),
        completion: .file(), transform: filePath)
    var tokenFile: String?

    func validate() throws {
        if passwordFile != nil && tokenFile != nil {
            throw ValidationError("Give either --password-file or --token-file, not both.")
        }
    }

    func credentials(
        of user: String, _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ClientCredentials {
        if let passwordFile {
            return try .password(of: user) { try SecretText.line(file: passwordFile, of: "--password-file") }
        }
        if let token = try token(environment) { return try Self.bearer(token.text, of: user, from: token.origin) }
        throw CommandFailure(
            .configuration, "There are no credentials for \(user.printable).",
            hint: "Give a file with --password-file or --token-file, or set RETRIEVAL_TOKEN. "
                + "`securepush token` gets a token.")
    }

    /// The token of the file, else of the environment.
    func token(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> (text: String, origin: String)? {
        if let tokenFile {
            return (try SecretText.token(file: tokenFile, of: "--token-file"), tokenFile)
        }
        return try Settings(environment).secret("RETRIEVAL_TOKEN") { try SecretText.token($0, of: $1, .configuration) }
            .map { ($0, "RETRIEVAL_TOKEN") }
    }

    /// The service identifies the user by the token alone, so another user's token would act for that user.
    ///
    /// - Throws: ``CommandFailure`` with code `usage` if the token names another user. The service refuses tokens that
    ///   cannot be read.
    private static func bearer(_ token: String, of user: String, from source: String) throws -> ClientCredentials {
        if let subject = subject(of: token), !subject.utf8.elementsEqual(user.utf8) {
            throw CommandFailure(
                .usage, "The token of \(source.printable) belongs to \(subject.printable), not to \(user.printable).",
                hint: "Give --user \(subject.printable), or a token of \(user.printable).")
        }
        return .bearer(token)
    }

    /// The claim `sub` of a JWT (RFC 7519, 4.1.2), without verification.
    private static func subject(of token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let claims = Base64.decode(parts[1], .url).flatMap { JSONValue(text: String(decoding: $0, as: UTF8.self)) }
        return claims?["sub"]?.text
    }
}
