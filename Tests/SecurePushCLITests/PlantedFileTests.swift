import Foundation
import TestSupport
import Testing

@testable import SecurePushCLI

/// Commands that root runs on files in a folder of a service's user, who has put something else there.
@Suite(.enabled(if: geteuid() == 0, "Only root has something to give away."), .timeLimit(.minutes(5)))
struct PlantedFileTests {
    enum Plant: CaseIterable, Sendable { case link, dangling, hardLink, pipe, folderLink }

    /// A command, and the files in the service's folder, one of which is planted.
    struct Command: Sendable, CustomTestStringConvertible {
        let name: String
        /// `SERVICE` and `OWN` stand for the service's folder and one of root.
        let arguments: [String]
        var environment: [String: String] = [:]
        let planted: [String]
        /// Commands that make what has to be there.
        var before: [[String]] = []

        var testDescription: String { name }
    }

    private static let rotatePush = [
        "--push", "--push-signing-key-file", "SERVICE/push.pem", "--push-verification-keys-file", "SERVICE/push.json",
    ]

    static let commands = [
        Command(
            name: "users add",
            arguments: ["users", "add", "carol", "--users-file", "SERVICE/users", "--password-file", "OWN/password"],
            planted: ["users"]),
        Command(
            name: "users remove", arguments: ["users", "remove", "carol", "--users-file", "SERVICE/users"],
            planted: ["users"]),
        Command(
            name: "api-keys add", arguments: ["api-keys", "add", "clinic", "--api-keys-file", "SERVICE/api-keys"],
            planted: ["api-keys"]),
        Command(
            name: "keys generate", arguments: ["keys", "generate", "--payload-keys-file", "SERVICE/payload.keys"],
            planted: ["payload.keys"]),
        Command(
            name: "keys generate --signing-key",
            arguments: ["keys", "generate", "--signing-key", "SERVICE/key.pem", "--jwks", "SERVICE/jwks.json"],
            planted: ["key.pem", "jwks.json"]),
        Command(
            name: "keys generate --push", arguments: ["keys", "generate"] + rotatePush,
            planted: ["push.pem", "push.json"]),
        Command(
            name: "keys rotate", arguments: ["keys", "rotate", "--payload-keys-file", "SERVICE/payload.keys"],
            planted: ["payload.keys"]),
        Command(
            name: "keys rotate --push", arguments: ["keys", "rotate"] + rotatePush, planted: ["push.json"],
            before: [["keys", "generate"] + rotatePush]),
        Command(
            name: "an audit log",
            arguments: ["keys", "generate", "--payload-keys-file", "OWN/audited.keys"],
            environment: ["AUDIT_LOG": "SERVICE/audit.log"], planted: ["audit.log", "audit.log.1"]),
        Command(
            name: "setup", arguments: ["setup", "--directory", "SERVICE"],
            planted: [
                "secrets", "secrets/users", "secrets/api-keys", "secrets/payload.keys", "secrets/alice.password",
                "secrets/token-signing-key.pem", "secrets/hub-emulator-key.pem", "secrets/hub-emulator-certificate.pem",
            ], before: [["setup", "--directory", "SERVICE"]]),
        Command(
            name: "setup --services",
            arguments: [
                "setup", "--directory", "OWN/state", "--services", "SERVICE", "--database", "db:5432/s", "--broker",
                "mq:5672",
            ],
            planted: [
                "ingest", "ingest/database-url", "ingest/users", "postgres/password", "rabbitmq/definitions.json",
                "admin", "admin/database.admin.password",
            ],
            before: [
                [
                    "setup", "--directory", "OWN/state", "--services", "SERVICE", "--database", "db:5432/t", "--broker",
                    "mq:5673",
                ]
            ]),
        Command(
            name: "migrate", arguments: ["migrate", "--create", "--database-url", "sqlite:SERVICE/db.sqlite"],
            planted: ["db.sqlite"]),
    ]

    @Test(arguments: commands, Plant.allCases)
    func `Nothing behind what was planted is made, changed, given away or copied`(
        command: Command, plant: Plant
    ) async throws {
        for name in command.planted {
            try await withTemporaryFolder { folder in
                let (service, own, secret) = ("\(folder)/service", "\(folder)/own", "\(folder)/secret")
                for path in [service, own, secret] {
                    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                }
                try #require(chmod(secret, 0o700) == 0)
                try SecretFile.create(own + "/password", "correct horse")
                try Data("only root\n".utf8).write(to: URL(filePath: secret + "/existing"))
                try #require(chmod(secret + "/existing", 0o600) == 0)
                func filled(_ text: String) -> String {
                    text.replacing("SERVICE", with: service).replacing("OWN", with: own)
                }
                for arguments in command.before {
                    let run = try await CommandLineRun(arguments.map(filled), in: own)
                    try #require(run.code == 0, "\(run.errors)")
                }
                try giveAway(service)
                try put(plant, at: "\(service)/\(name)", secret)
                let run = try await CommandLineRun(
                    command.arguments.map(filled), command.environment.mapValues(filled), in: own)
                #expect(run.code != nil, "\(name): It hangs, or a signal has ended it.")
                try expectUntouched(secret, name)
                #expect(try !holds("only root", below: service, except: plant == .hardLink ? name : nil), "\(name)")
            }
        }
    }

    /// The folder and all in it belong to the service's user.
    private func giveAway(_ folder: String) throws {
        let names = FileManager.default.enumerator(atPath: folder)
        while let name = names?.nextObject() as? String { try #require(lchown("\(folder)/\(name)", 65534, 65534) == 0) }
        try #require(chown(folder, 65534, 65534) == 0)
    }

    private func put(_ plant: Plant, at path: String, _ secret: String) throws {
        let files = FileManager.default
        try? files.removeItem(atPath: path)
        let folder = URL(filePath: path).deletingLastPathComponent().path
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        switch plant {
        case .link: try files.createSymbolicLink(atPath: path, withDestinationPath: secret + "/existing")
        case .dangling: try files.createSymbolicLink(atPath: path, withDestinationPath: secret + "/new")
        case .hardLink: try files.linkItem(atPath: secret + "/existing", toPath: path)
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .folderLink: try files.createSymbolicLink(atPath: path, withDestinationPath: secret)
        }
        if plant != .hardLink { try #require(lchown(path, 65534, 65534) == 0) }
    }

    private func expectUntouched(_ secret: String, _ name: String) throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: secret) == ["existing"], "\(name)")
        let attributes = try FileManager.default.attributesOfItem(atPath: secret + "/existing")
        #expect(attributes[.ownerAccountID] as? Int == 0 && attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        #expect(try String(contentsOfFile: secret + "/existing", encoding: .utf8) == "only root\n", "\(name)")
    }

    /// Whether a regular file below a folder holds a text.
    private func holds(_ text: String, below folder: String, except name: String?) throws -> Bool {
        let names = FileManager.default.enumerator(atPath: folder)
        while let found = names?.nextObject() as? String {
            let path = "\(folder)/\(found)"
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.type] as? FileAttributeType == .typeRegular, found != name else { continue }
            if String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).contains(text) { return true }
        }
        return false
    }
}
