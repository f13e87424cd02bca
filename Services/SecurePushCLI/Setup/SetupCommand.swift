import ArgumentParser
import Authentication
import Crypto
import Domain
import Foundation
import Foundations
import Hub
import Storage

struct SetupCommand: AuditedCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Create the files of a stack: keys, a connection string, and for a local one demo accounts.",
        discussion: """
            Creates missing files in DIR/secrets (folder mode 0700, file mode 0600). Run it before every start. The \
            demo accounts are the sender `demo` (ingest-api-key) and the users alice and bob (alice.password, \
            bob.password). hub-access has the rules of the hub `securepush`, push-credentials.json its credentials: \
            Web Push is real, with the key vapid.pem, and the other platforms are simulated. The dispatcher and \
            retrieval have connection strings of their own; an Azure hub's string in hub-connection-string replaces \
            them. hub-emulator-certificate.pem and hub-emulator-key.pem enable TLS in the hub emulator on this \
            machine, for clients that accept only https. Such clients must trust hub-emulator-ca.pem. The certificate \
            is valid for a year; the command renews it when less than 30 days are left.

            With --services it also creates a folder per service in that DIR, with copies of the files that the \
            service needs and with the URLs of its own database role and its own broker user. The passwords are in \
            DIR/admin. Run the command again after every change of a file; it updates the copies. It then makes no \
            demo accounts, unless --demo is given: `securepush api-keys add` makes the first sender.

            EXAMPLES
              securepush setup --directory .securepush
              DATABASE_URL=postgres://... securepush setup \\
                  --directory /var/lib/securepush --migrate
              securepush setup --directory /state --services /services \\
                  --database db:5432/securepush --broker mq:5672
            """,
        subcommands: [DatabaseRolesCommand.self, BrokerUsersCommand.self])

    @Option(
        help: ArgumentHelp("The parent of the folder `secrets`.", valueName: "dir"), completion: .directory,
        transform: filePath)
    var directory: String?

    @Option(help: ArgumentHelp("The URL of the hub in the connection strings.", valueName: "url"))
    var hubEndpoint = "http://127.0.0.1:8085/"

    @Option(
        help: ArgumentHelp(
            "The contact for push services (Web Push): mailto: and an address, or an https: URL.", valueName: "uri"))
    var pushContact = LocalSetup.standardContact

    @Flag(help: "Also run pending database migrations (DATABASE_URL).")
    var migrate = false

    @Option(
        help: ArgumentHelp("Also create a folder for each service in this folder.", valueName: "dir"),
        completion: .directory, transform: filePath)
    var services: String?

    @Option(
        help: ArgumentHelp(
            "The database in the services' URLs; libpq's parameters, such as sslmode, can follow a question mark.",
            valueName: "host:port/name"))
    var database: String?

    @Option(
        help: ArgumentHelp(
            "The broker in the services' URLs; amqps:// before it means TLS, and parameters can follow.",
            valueName: "host:port"))
    var broker: String?

    @Flag(help: "Make the demo accounts with --services, too.")
    var demo = false

    @OptionGroup(title: "Output") var output: OutputOptions

    var audited: Audited? { ("setup", nil) }

    private struct Report: Encodable {
        var files: [String]
        var migrations: [String]
    }

    func run(on console: Console) async throws {
        guard let directory else {
            throw CommandFailure(.usage, "--directory is missing.", hint: "Give the parent of the folder `secrets`.")
        }
        var setup = LocalSetup(directory: directory, hubEndpoint: hubEndpoint, hasDemo: services == nil || demo)
        setup.pushContact = pushContact
        // Before anything is made: a mistake leaves no files behind.
        let folders = try serviceFolders(setup)
        let files = try setup.run() + (folders?.run() ?? [])
        let migrations = migrate ? try await StoreSession.migrate(Settings().databaseURL).applied : []
        if console.isJSON { return try console.show(Report(files: files, migrations: migrations), "") }
        for file in files { try console.line("made \(file)") }
        if files.contains(setup.hubCertificate.certificateFile) {
            let end = try setup.hubCertificate.goodUntil().ISO8601Format().prefix(10)
            try console.line(
                "The hub emulator's certificate is valid for \(setup.hubCertificate.hosts.joined(separator: ", ")) "
                    + "until \(end). Clients must trust \(setup.hubCertificate.rootFile).")
        }
        for migration in migrations { try console.line("migrated \(migration)") }
        if files.isEmpty && migrations.isEmpty { try console.line("nothing to do") }
    }

    /// The folders of `--services`; `nil` without it.
    private func serviceFolders(_ setup: LocalSetup) throws -> ServiceFolders? {
        guard let services else { return nil }
        guard let database, Self.isPlace(database), database.prefix(while: { $0 != "?" }).contains("/"),
            let broker = broker.flatMap(BrokerPlace.init), Self.isPlace(broker.text)
        else {
            throw CommandFailure(
                .usage, "--services needs --database HOST:PORT/NAME and --broker HOST:PORT.",
                hint: "Give no users and passwords: the command makes them. Parameters such as ?sslmode=verify-full "
                    + "may follow, and amqps:// may stand before the broker.")
        }
        return try ServiceFolders(
            setup: setup, directory: services, database: database, broker: broker,
            retryDelays: Settings().retryDelays())
    }

    /// Whether a text is valid behind the `@` of a URL: a host, and parameters after the only question mark.
    private static func isPlace(_ text: String) -> Bool {
        text.split(separator: "?", omittingEmptySubsequences: false).count <= 2 && !text.hasPrefix("?")
            && !text.isEmpty && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"@#".utf8.contains($0) }
    }
}

/// Creates the missing files of a stack: keys, files of senders and users, the hub's rules and credentials, and the hub
/// emulator's connection string and certificate. Keeps existing files, so that it can run before every start.
struct LocalSetup: Sendable {
    var directory: String
    /// The URL of the hub in the connection strings.
    var hubEndpoint: String
    /// For the operators of push services.
    var pushContact = LocalSetup.standardContact
    /// Whether it makes ``sender`` and ``users``; otherwise both files are empty.
    var hasDemo = true

    /// The users of local stacks and of the demo.
    static let users = ["alice", "bob"]
    /// The sender of local stacks and of the demo.
    static let sender = "demo"
    /// The hub of a stack.
    static let hub = "securepush"
    static let standardContact = "mailto:push@securepush.example.org"

    var secrets: String { directory + "/secrets" }
    var payloadKeys: String { secrets + "/payload.keys" }
    var signingKey: String { secrets + "/token-signing-key.pem" }
    var jwks: String { secrets + "/jwks.json" }
    var apiKeys: String { secrets + "/api-keys" }
    var apiKey: String { secrets + "/ingest-api-key" }
    var usersFile: String { secrets + "/users" }
    /// The hub emulator's, or that of an Azure hub, which replaces the two of the services.
    var hubConnectionString: String { secrets + "/hub-connection-string" }
    var hubAccess: String { secrets + "/hub-access" }
    var vapidKey: String { secrets + "/vapid.pem" }
    var vapidPublicKey: String { secrets + "/web-push-public-key" }
    var pushCredentials: String { secrets + "/push-credentials.json" }
    var adminPassword: String { secrets + "/admin-password" }

    /// For the hub emulator on this machine and under its name in the connection string.
    var hubCertificate: LocalCertificate {
        let endpoint = URL(string: hubEndpoint)?.host().map { $0.trimmingCharacters(in: ["[", "]"]) }
        var hosts = ["localhost", "127.0.0.1", "::1"]
        if let endpoint, !endpoint.isEmpty, !hosts.contains(endpoint) { hosts.append(endpoint) }
        return LocalCertificate(
            rootFile: secrets + "/hub-emulator-ca.pem", certificateFile: secrets + "/hub-emulator-certificate.pem",
            keyFile: secrets + "/hub-emulator-key.pem", hosts: hosts)
    }

    /// - Parameter rule: `dispatcher` or `retrieval`.
    func hubConnectionString(of rule: String) -> String { "\(secrets)/\(rule).hub-connection-string" }

    func passwordFile(of user: String) -> String { "\(secrets)/\(user).password" }

    /// - Returns: the new files.
    func run() throws -> [String] {
        try SecretFile.makeFolder(secrets)
        var made: [String] = []
        if try SecretFile.create(payloadKeys, PayloadKeyRing.newLine()) { made.append(payloadKeys) }
        if !SecretFile.exists(signingKey) || !SecretFile.exists(jwks) {
            if !SecretFile.exists(signingKey) { try TokenSigningKey.make(at: signingKey) }
            try SecretFile.create(jwks, try TokenSigningKey(path: signingKey).publicJWKS)
            made += [signingKey, jwks]
        }
        made += try hasDemo ? makeAPIKey() + LocalSetup.users.flatMap(makeUser) : makeFilesOfNobody()
        if try SecretFile.create(adminPassword, RandomSecret.password()) { made.append(adminPassword) }
        let connectionString = ConnectionString.text(
            ServiceURL.hubEmulator.standard, rule: "DefaultFullSharedAccessSignature", key: RandomSecret.base64())
        if try SecretFile.create(hubConnectionString, connectionString) { made.append(hubConnectionString) }
        made += try makeHub() + hubCertificate.make()
        return made
    }

    /// The rules of the hub with the strings of those who use it, and its credentials.
    private func makeHub() throws -> [String] {
        var made: [String] = []
        if !SecretFile.exists(hubAccess) {
            let (text, rules) = try HubTools.adding(Self.hub, to: nil)
            for rule in rules where rule.name != "apps" {
                let path = hubConnectionString(of: rule.name)
                _ = try SecretFile.replace(
                    path, ConnectionString.text(hubEndpoint, rule: rule.name, key: rule.key), mode: 0o600)
                made.append(path)
            }
            try SecretFile.create(hubAccess, text.droppingLineEnd)
            made.append(hubAccess)
        }
        if !SecretFile.exists(vapidKey) {
            let key = HubTools.newVAPIDKey()
            _ = try SecretFile.replace(vapidPublicKey, key.publicKey, mode: 0o600)
            try SecretFile.create(vapidKey, key.pem)
            made += [vapidPublicKey, vapidKey]
        }
        let credentials = """
            {"\(Self.hub)": {
              "apns": {"simulated": true},
              "fcm": {"simulated": true},
              "wns": {"simulated": true},
              "webPush": {"privateKeyFile": "vapid.pem", "subject": \(JSONText.quoted(pushContact))}
            }}
            """
        if try SecretFile.create(pushCredentials, credentials) { made.append(pushCredentials) }
        return made
    }

    /// The services need both files.
    private func makeFilesOfNobody() throws -> [String] {
        let texts = [
            (apiKeys, "# The senders. `securepush api-keys add NAME --api-keys-file FILE` adds one."),
            (usersFile, "# Users with passwords. `securepush users add NAME --users-file FILE` adds one."),
        ]
        return try texts.filter { try SecretFile.create($0, $1) }.map(\.0)
    }

    /// If only the file with the key's hash exists, the sender gets a new key.
    private func makeAPIKey() throws -> [String] {
        guard !SecretFile.exists(apiKey) || !SecretFile.exists(apiKeys) else { return [] }
        guard !SecretFile.exists(apiKey) else {
            throw CommandFailure(
                .configuration, "\(apiKey) exists, but \(apiKeys) does not.",
                hint: "Remove \(apiKey) and run the command again.")
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
        if isNew || !isKnown { try file.add(user, password: try SecretFile.readOwn(path), replacing: true) }
        return isNew ? [path] : isKnown ? [] : [usersFile]
    }
}

enum RandomSecret {
    /// A password of 24 hex digits (96 bits), which needs no escaping in shells, headers and URLs.
    static func password() -> String { SymmetricKey(size: .bits256).withUnsafeBytes { $0.prefix(12).hex } }

    /// 32 bytes in Base64, like the keys of a hub's access policies.
    static func base64() -> String { SymmetricKey(size: .bits256).withUnsafeBytes { Base64.encode($0, .standard) } }
}
