import ArgumentParser
import Authentication
import Crypto
import Foundation
import SecurePushCore
import Storage

struct SetupCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Make what a local stack needs: keys, a sender, demo users, the emulator's connection string.",
        discussion: """
            Makes only what is missing in DIR/secrets (mode 0700, files 0600), so that it can run before every start.
            The sender is `demo` (ingest-api-key); the users are alice and bob (alice.password, bob.password).
            hub-emulator-certificate.pem and hub-emulator-key.pem let the hub emulator speak TLS on this machine, for
            clients that take https only; they trust hub-emulator-ca.pem. It is good for a year and made anew when less
            than 30 days are left.

            With --services each service gets a folder of its own in that DIR, with copies of the files that it works
            with, and with the URLs of its own role in the database and its own user of the broker. Passwords are made
            in DIR/admin. What has changed since is handed over again, so run it after each change of a file.

            EXAMPLES
              securepush setup --directory .securepush
              DATABASE_URL=postgres://... securepush setup --directory /var/lib/securepush --migrate
              securepush setup --directory /state --services /services --database db:5432/securepush --broker mq:5672
            """,
        subcommands: [DatabaseRolesCommand.self, BrokerUsersCommand.self])

    @Option(help: ArgumentHelp("Where the folder `secrets` goes.", valueName: "dir"))
    var directory: String?

    @Option(help: ArgumentHelp("The hub emulator's address in its connection string.", valueName: "url"))
    var hubEndpoint = "http://127.0.0.1:8090/"

    @Flag(help: "Run pending database migrations too (DATABASE_URL).")
    var migrate = false

    @Option(help: ArgumentHelp("Also give each service a folder of its own in this one.", valueName: "dir"))
    var services: String?

    @Option(help: ArgumentHelp("The database in the services' URLs.", valueName: "host:port/name"))
    var database: String?

    @Option(help: ArgumentHelp("The broker in the services' URLs.", valueName: "host:port"))
    var broker: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Answer: Encodable {
        var Files: [String]
        var Migrations: [String]
    }

    func run(on console: Console) async throws {
        guard let directory else {
            throw CommandFailure(.usage, "--directory is needed.", hint: "Name the folder that `secrets` goes into.")
        }
        let setup = LocalSetup(directory: directory, hubEndpoint: hubEndpoint)
        let files = try setup.run() + serviceFiles(setup)
        let migrations = migrate ? try await Migrations.run(Migrations.url()).applied : []
        if console.isJSON { return try console.show(Answer(Files: files, Migrations: migrations), "") }
        for file in files { console.line("made \(file)") }
        if files.contains(setup.hubCertificate.certificateFile) {
            let end = try setup.hubCertificate.goodUntil().ISO8601Format().prefix(10)
            console.line(
                "The hub emulator's certificate is for \(setup.hubCertificate.hosts.joined(separator: ", ")), until "
                    + "\(end). Clients must trust \(setup.hubCertificate.rootFile).")
        }
        for migration in migrations { console.line("migrated \(migration)") }
        if files.isEmpty && migrations.isEmpty { console.line("nothing was missing") }
    }

    private func serviceFiles(_ setup: LocalSetup) throws -> [String] {
        guard let services else { return [] }
        guard let database, let broker, Self.isPlace(database), Self.isPlace(broker), database.contains("/") else {
            throw CommandFailure(
                .usage, "--services needs --database HOST:PORT/NAME and --broker HOST:PORT.",
                hint: "Names and ports only: users and passwords are made.")
        }
        return try ServiceFolders(
            setup: setup, directory: services, database: database, broker: broker, retryDelays: RetryDelays.read()
        ).run()
    }

    /// Whether a text can stand behind the `@` of a URL.
    private static func isPlace(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"@?#".utf8.contains($0) }
    }
}

/// Makes what a local stack needs and does not have yet: keys, a sender, two users, the hub emulator's connection
/// string and its certificate. What is there stays as it is, so that it can run before every start.
struct LocalSetup: Sendable {
    /// Holds `secrets`.
    var directory: String
    /// The address of the hub emulator in the connection string.
    var hubEndpoint: String

    /// The users that local stacks and the demo have.
    static let users = ["alice", "bob"]
    /// The sender whose key is made.
    static let sender = "demo"

    var secrets: String { directory + "/secrets" }
    var payloadKeys: String { secrets + "/payload.keys" }
    var signingKey: String { secrets + "/token-signing-key.pem" }
    var jwks: String { secrets + "/jwks.json" }
    var apiKeys: String { secrets + "/api-keys" }
    var apiKey: String { secrets + "/ingest-api-key" }
    var usersFile: String { secrets + "/users" }
    var hubConnectionString: String { secrets + "/hub-connection-string" }

    /// For the hub emulator by TLS, under the names of this machine and the one in the connection string.
    var hubCertificate: LocalCertificate {
        let endpoint = URL(string: hubEndpoint)?.host().map { $0.trimmingCharacters(in: ["[", "]"]) }
        var hosts = ["localhost", "127.0.0.1", "::1"]
        if let endpoint, !endpoint.isEmpty, !hosts.contains(endpoint) { hosts.append(endpoint) }
        return LocalCertificate(
            rootFile: secrets + "/hub-emulator-ca.pem", certificateFile: secrets + "/hub-emulator-certificate.pem",
            keyFile: secrets + "/hub-emulator-key.pem", hosts: hosts)
    }

    func passwordFile(of user: String) -> String { "\(secrets)/\(user).password" }

    /// - Returns: the files that were made.
    func run() throws -> [String] {
        try SecretFile.makeFolder(secrets)
        var made: [String] = []
        if try SecretFile.create(payloadKeys, PayloadKeyRing.newLine()) { made.append(payloadKeys) }
        if !SecretFile.exists(signingKey) || !SecretFile.exists(jwks) {
            try SigningKeyFiles.make(signingKey: signingKey, jwks: jwks)
            made += [signingKey, jwks]
        }
        made += try makeAPIKey()
        for user in LocalSetup.users { made += try makeUser(user) }
        let connectionString =
            "Endpoint=\(hubEndpoint);SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey="
            + RandomSecret.base64()
        if try SecretFile.create(hubConnectionString, connectionString) { made.append(hubConnectionString) }
        made += try hubCertificate.make()
        return made
    }

    /// The hash file without the key's text is of no use here: the sender gets a new key then.
    private func makeAPIKey() throws -> [String] {
        guard !SecretFile.exists(apiKey) || !SecretFile.exists(apiKeys) else { return [] }
        guard !SecretFile.exists(apiKey) else {
            throw CommandFailure(
                .configuration, "\(apiKey) is there and \(apiKeys) is not.",
                hint: "Remove \(apiKey) and run this again.")
        }
        let file = APIKeysFile(path: apiKeys)
        if SecretFile.exists(apiKeys), try file.list().contains(LocalSetup.sender) {
            try file.remove(LocalSetup.sender)
        }
        try SecretFile.create(apiKey, try file.add(LocalSetup.sender))
        return [apiKeys, apiKey]
    }

    private func makeUser(_ name: String) throws -> [String] {
        let user = try UserName.parse(name)
        let path = passwordFile(of: name)
        let isNew = try SecretFile.create(path, RandomSecret.password())
        let file = UsersFile(path: usersFile)
        let isKnown = SecretFile.exists(usersFile) ? try file.list().contains(user) : false
        if isNew || !isKnown { try file.add(user, password: try SecretFile.read(path), replacing: true) }
        return isNew ? [path] : isKnown ? [] : [usersFile]
    }
}

/// Secrets that nobody chose.
enum RandomSecret {
    /// 96 bits as 24 hex digits: a password that survives every shell and header.
    static func password() -> String { SymmetricKey(size: .bits256).withUnsafeBytes { $0.prefix(12).hex } }

    /// 32 bytes, as the keys of a hub's access rules have them.
    static func base64() -> String { SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() } }
}
