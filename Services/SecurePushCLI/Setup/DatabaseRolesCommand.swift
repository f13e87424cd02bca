import ArgumentParser
import Crypto
import Foundation
import Logging
import Storage

struct DatabaseRolesCommand: AuditedCommand {
    static let configuration = CommandConfiguration(
        commandName: "database-roles",
        abstract: "Print or apply the minimal PostgreSQL rights of each service.",
        discussion: """
            Prints SQL for psql that creates a role for each of ingest, dispatcher, retrieval, operator, hub and the \
            command line, and a role that owns the tables. With --apply it creates the roles in the database of DATABASE_URL as the \
            superuser of that URL, runs the migrations as the owner, and grants the rights. Running it again does no \
            harm. With --passwords the roles get the passwords of that folder; missing passwords are made.

            EXAMPLES
              securepush setup database-roles > roles.sql
              DATABASE_URL=postgres://... securepush setup database-roles --apply \\
                  --passwords /services/admin
            """)

    @Flag(help: "Create the roles, migrate, and grant the rights (DATABASE_URL, DATABASE_URL_FILE).")
    var apply = false

    @Option(
        help: ArgumentHelp("The folder with the passwords: `admin` in the services' folder.", valueName: "dir"),
        completion: .directory, transform: filePath)
    var passwords: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    var audited: Audited? { apply ? ("setup.database-roles", nil) : nil }

    private struct Report: Encodable {
        var roles: [String]
        var migrations: [String]
    }

    func run(on console: Console) async throws {
        guard apply else { return try console.line(DatabaseRoles.script().droppingLineEnd) }
        var verifiers: [DatabaseRole: String] = [:]
        if let passwords {
            for role in DatabaseRole.allCases {
                let password = try ServiceFolders.password("database.\(role.rawValue)", in: passwords)
                verifiers[role] = ScramVerifier.text(password)
            }
        }
        let report = try await DatabaseRoles.apply(
            uri: Settings().databaseURL, verifiers: verifiers, logger: .silent)
        let names = DatabaseRole.allCases.map(\.name)
        if console.isJSON { return try console.show(Report(roles: names, migrations: report.applied), "") }
        for migration in report.applied { try console.line("migrated \(migration)") }
        try console.line("The roles \(names.joined(separator: ", ")) have their rights.")
    }
}

/// The form in which PostgreSQL stores a password (RFC 5803; PostgreSQL manual, pg_authid). The server, which can log
/// statements, never sees the password itself.
enum ScramVerifier {
    private static let iterations = 4096

    /// - Parameter password: ASCII, which needs no normalisation (SASLprep).
    static func text(_ password: String, salt: Data = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) })
        -> String
    {
        let salted = SymmetricKey(data: salted(password, salt))
        let client = Data(HMAC<SHA256>.authenticationCode(for: Data("Client Key".utf8), using: salted))
        let stored = Data(SHA256.hash(data: client)).base64EncodedString()
        let server = Data(HMAC<SHA256>.authenticationCode(for: Data("Server Key".utf8), using: salted))
        return "SCRAM-SHA-256$\(iterations):\(salt.base64EncodedString())$\(stored):\(server.base64EncodedString())"
    }

    /// `Hi` of RFC 5802, which is PBKDF2 with HMAC-SHA-256 and one block.
    private static func salted(_ password: String, _ salt: Data) -> [UInt8] {
        let key = SymmetricKey(data: Data(password.utf8))
        var block = Array(HMAC<SHA256>.authenticationCode(for: salt + Data([0, 0, 0, 1]), using: key))
        var sum = block
        for _ in 1..<iterations {
            block = Array(HMAC<SHA256>.authenticationCode(for: block, using: key))
            for index in sum.indices { sum[index] ^= block[index] }
        }
        return sum
    }
}
