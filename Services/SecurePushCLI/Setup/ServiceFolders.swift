import Foundation
import Storage

/// Hands each service the secrets that it works with, and no others, in a folder of its own, so that a container sees
/// only what is mounted into it. What has changed is handed over again; services read changed files themselves.
struct ServiceFolders: Sendable {
    /// Has the originals.
    var setup: LocalSetup
    /// Holds a folder for each service and server, and `admin` with the passwords, which no service sees.
    var directory: String
    /// `HOST:PORT/NAME` of the database.
    var database: String
    /// `HOST:PORT` of the broker.
    var broker: String
    /// The delay queues that the broker makes at its start.
    var retryDelays: [Duration]

    /// The files of `secrets` by service; the URLs of the database and the broker come to them.
    static let files: [String: [String]] = [
        "ingest": ["payload.keys", "api-keys", "users", "jwks.json"],
        "dispatcher": ["hub-connection-string"],
        "retrieval": ["payload.keys", "users", "jwks.json", "token-signing-key.pem", "hub-connection-string"],
        "hub-emulator": ["hub-connection-string"],
    ]

    /// - Returns: the files that were made or changed.
    func run() throws -> [String] {
        var changed: [String] = []
        // Retrieval before ingest: what a new payload key seals can be opened at once.
        for (service, names) in Self.files.sorted(by: { $0.key > $1.key }) {
            for name in names {
                let text = try SecretFile.read("\(setup.secrets)/\(name)")
                changed += try hand(text, to: "\(service)/\(name)")
            }
        }
        for role in DatabaseRole.allCases {
            let url =
                "postgres://\(role.name):\(try password("database.\(role.rawValue)"))@\(database)"
            changed +=
                try role == .operator ? keep(url, "database-url") : hand(url, to: "\(role.rawValue)/database-url")
        }
        for user in BrokerUser.allCases {
            let url = "amqp://\(user.name):\(try password("broker.\(user.rawValue)"))@\(broker)/%2F"
            changed += try user == .operator ? keep(url, "amqp-url") : hand(url, to: "\(user.rawValue)/amqp-url")
        }
        return try changed + servers()
    }

    /// What the servers themselves start with. They run as other users, so these files are open to them; nobody else
    /// has the folder.
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

    /// A password that is made where there is none yet: 96 bits in hex, which need no escaping in a URL.
    static func password(_ name: String, in directory: String) throws -> String {
        let path = "\(directory)/\(name).password"
        // The folder may be mounted for reading only.
        if !SecretFile.exists(path) { try SecretFile.create(path, RandomSecret.password()) }
        return try SecretFile.read(path)
    }

    private func hand(_ text: String, to path: String, mode: mode_t = 0o600) throws -> [String] {
        try SecretFile.replace("\(directory)/\(path)", text, mode: mode) ? ["\(directory)/\(path)"] : []
    }

    /// The command line's own, beside the originals.
    private func keep(_ text: String, _ name: String) throws -> [String] {
        try SecretFile.replace("\(setup.secrets)/\(name)", text, mode: 0o600) ? ["\(setup.secrets)/\(name)"] : []
    }
}
