import ArgumentParser
import Crypto
import Foundation
import Logging
import Storage

struct DatabaseRolesCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "database-roles",
        abstract: "Print, or apply, the least rights of each service in PostgreSQL.",
        discussion: """
            Prints SQL for psql: a role each for ingest, dispatcher, retrieval and the command line, and one that owns
            the tables. With --apply it makes them in the database of DATABASE_URL, which must name a superuser, runs
            the migrations as the owner, and gives each role its rights; it can be run again. With --passwords each
            role gets its password of that folder, which the services' URLs hold; one that is missing is made.

            EXAMPLES
              securepush setup database-roles > roles.sql
              DATABASE_URL=postgres://... securepush setup database-roles --apply --passwords /services/admin
            """)

    @Flag(help: "Make the roles, migrate, and grant (DATABASE_URL, DATABASE_URL_FILE).")
    var apply = false

    @Option(help: ArgumentHelp("The folder with the passwords: `admin` of the services' folders.", valueName: "dir"))
    var passwords: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Answer: Encodable {
        var Roles: [String]
        var Migrations: [String]
    }

    func run(on console: Console) async throws {
        guard apply else { return console.line(DatabaseRoles.script().droppingLineEnd) }
        var verifiers: [DatabaseRole: String] = [:]
        if let passwords {
            for role in DatabaseRole.allCases {
                let password = try ServiceFolders.password("database.\(role.rawValue)", in: passwords)
                verifiers[role] = ScramVerifier.text(password)
            }
        }
        let report = try await DatabaseRoles.apply(
            uri: Migrations.url(), verifiers: verifiers,
            logger: Logger(label: "securepush") { _ in SwiftLogNoOpLogHandler() })
        let names = DatabaseRole.allCases.map(\.name)
        if console.isJSON { return try console.show(Answer(Roles: names, Migrations: report.applied), "") }
        for migration in report.applied { console.line("migrated \(migration)") }
        console.line("the roles \(names.joined(separator: ", ")) have their rights")
    }
}

/// What PostgreSQL keeps of a password (RFC 5803 and PostgreSQL's manual, pg_authid), so that the password itself never
/// crosses to the server, which may write statements to its log.
enum ScramVerifier {
    private static let iterations = 4096

    /// - Parameter password: ASCII, so that no normalisation (SASLprep) is needed.
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
