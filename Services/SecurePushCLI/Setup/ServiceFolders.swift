import Foundation
import Foundations
import Hub
import Storage

/// Copies to each service's folder only the secrets that the service needs. A container mounts only that folder.
/// Updates changed files; the services reload them.
struct ServiceFolders: Sendable {
    var setup: LocalSetup
    /// The parent of the services' and servers' folders, and of `admin` with the passwords, which no service mounts.
    var directory: String
    /// `HOST:PORT/NAME` of the database, with or without parameters.
    var database: String
    var broker: BrokerPlace
    /// The delays of the queues that the broker creates when it starts.
    var retryDelays: [Duration]

    /// The files of `secrets` by service. The URLs of database and broker, and the strings of the hub, are added.
    static let files: [String: [String]] = [
        "ingest": ["payload.keys", "api-keys", "users", "jwks.json"],
        "dispatcher": [],
        "retrieval": ["payload.keys", "users", "jwks.json", "token-signing-key.pem", "web-push-public-key"],
        "operator": ["admin-password"],
        "hub": ["hub-access", "push-credentials.json"],
        "hub-emulator": ["hub-connection-string"],
    ]

    /// The same for files that need not exist: the keys of signed pushes (`securepush keys generate --push`).
    static let optionalFiles: [String: [String]] = [
        "dispatcher": ["push-signing-key.pem"],
        "retrieval": ["push-verification-keys.json"],
    ]

    /// - Returns: the new and changed files.
    func run() throws -> [String] {
        var changed: [String] = []
        // Retrieval before ingest, so that it can open payloads that ingest seals with a new key.
        for (service, names) in Self.files.sorted(by: { $0.key > $1.key }) {
            let optional = Self.optionalFiles[service, default: []]
            let named = service == "hub" ? try Self.files(namedBy: setup.pushCredentials) : []
            // Before the file that names them: a running hub reads that first.
            for name in named + names + optional.filter({ SecretFile.exists("\(setup.secrets)/\($0)") }) {
                let text = try SecretFile.readOwn("\(setup.secrets)/\(name)")
                changed += try hand(text, to: "\(service)/\(name)")
            }
        }
        for service in ["dispatcher", "retrieval"] {
            let text = try SecretFile.readOwn(try hubConnectionString(of: service))
            changed += try hand(text, to: "\(service)/hub-connection-string")
            // The command line looks at devices, as retrieval does.
            if service == "retrieval" { changed += try keep(text, "cli.hub-connection-string") }
        }
        for role in DatabaseRole.allCases {
            let url = "postgres://\(role.name):\(try password("database.\(role.rawValue)"))@\(database)"
            changed +=
                try role == .cli ? keep(url, "database-url") : hand(url, to: "\(role.rawValue)/database-url")
        }
        for user in BrokerUser.allCases {
            let url = broker.url(user: user.name, password: try password("broker.\(user.rawValue)"))
            changed += try user == .cli ? keep(url, "amqp-url") : hand(url, to: "\(user.rawValue)/amqp-url")
        }
        return try changed + servers()
    }

    /// The file with a service's string: that of an Azure hub for both, if somebody has put one in the place of the hub
    /// emulator's, which is plain HTTP.
    private func hubConnectionString(of service: String) throws -> String {
        let text = SecretFile.exists(setup.hubConnectionString) ? try SecretFile.readOwn(setup.hubConnectionString) : ""
        let isAzure = !text.isEmpty && text.lowercased().firstRange(of: "endpoint=http://") == nil
        return isAzure ? setup.hubConnectionString : setup.hubConnectionString(of: service)
    }

    /// The files beside a file of credentials that it names.
    private static func files(namedBy path: String) throws -> [String] {
        try CommandFailure.naming("push-credentials.json") { () throws(FileError) in
            try HubTools.files(namedByCredentialsFile: path).filter { !$0.utf8.contains(UInt8(ascii: "/")) }
        }
    }

    /// The files of the database server and the broker. The servers run as other users, so all users can read these
    /// files; the parent folder is closed.
    private func servers() throws -> [String] {
        let admin = try password("database.admin")
        let definitions = try BrokerDefinitions(retryDelays: retryDelays).json { user in
            try password("broker.\(user.rawValue)")
        }
        return try hand("postgres://postgres:\(admin)@\(database)", to: "admin/database-url")
            + hand(admin, to: "postgres/password", mode: 0o644)
            + hand(definitions, to: "rabbitmq/definitions.json", mode: 0o644)
    }

    private func password(_ name: String) throws -> String {
        try Self.password(name, in: "\(directory)/admin")
    }

    /// Reads a password, or makes it if it does not exist.
    static func password(_ name: String, in directory: String) throws -> String {
        let path = "\(directory)/\(name).password"
        // The folder can be mounted read-only.
        if !SecretFile.exists(path) { try SecretFile.create(path, RandomSecret.password()) }
        return try SecretFile.readOwn(path)
    }

    private func hand(_ text: String, to path: String, mode: UInt32 = 0o600) throws -> [String] {
        try SecretFile.replace("\(directory)/\(path)", text, mode: mode) ? ["\(directory)/\(path)"] : []
    }

    /// Writes a file of the command line itself, beside the originals.
    private func keep(_ text: String, _ name: String) throws -> [String] {
        try SecretFile.replace("\(setup.secrets)/\(name)", text, mode: 0o600) ? ["\(setup.secrets)/\(name)"] : []
    }
}

/// The address of a broker without its users: `HOST:PORT`, or `amqps://HOST:PORT` for TLS, and `?parameters`.
struct BrokerPlace: Sendable {
    private let scheme: String
    /// Without the scheme.
    let text: String

    /// - Returns: `nil` if the scheme is another one.
    init?(_ text: String) {
        let parts = text.prefix { $0 != "?" }.contains("://") ? text.split(separator: "://", maxSplits: 1) : []
        scheme = parts.first.map(String.init) ?? "amqp"
        guard scheme == "amqp" || scheme == "amqps" else { return nil }
        self.text = parts.isEmpty ? text : parts.dropFirst().joined()
    }

    /// The URL of one user, in the default virtual host. The parameters stand behind it.
    func url(user: String, password: String) -> String {
        let host = text.prefix { $0 != "?" }
        return "\(scheme)://\(user):\(password)@\(host)/%2F\(text.dropFirst(host.count))"
    }
}
