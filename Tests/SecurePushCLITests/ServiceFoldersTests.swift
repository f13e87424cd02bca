import AMQP
import Authentication
import Foundation
import Messaging
import Storage
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct ServiceFoldersTests {
    private static func folders(
        in folder: String, database: String = "postgres:5432/securepush", broker: String = "rabbitmq:5672"
    ) throws -> ServiceFolders {
        try ServiceFolders(
            setup: LocalSetup(directory: "\(folder)/state", hubEndpoint: "http://hub-emulator:8090/"),
            directory: "\(folder)/services", database: database, broker: #require(BrokerPlace(broker)),
            retryDelays: [.seconds(1), .seconds(5)])
    }

    private static func names(in path: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: path))
    }

    @Test func `Each service gets what it works with, and nothing else`() async throws {
        try await withTemporaryFolder { folder in
            let folders = try Self.folders(in: folder)
            _ = try folders.setup.run()
            _ = try folders.run()
            let expected: [String: Set<String>] = [
                "ingest": [
                    "payload.keys", "api-keys", "users", "jwks.json", "database-url", "amqp-url",
                ],
                "operator": ["admin-password", "database-url", "amqp-url"],
                "dispatcher": ["hub-connection-string", "database-url", "amqp-url"],
                "retrieval": [
                    "payload.keys", "users", "jwks.json", "token-signing-key.pem", "hub-connection-string",
                    "database-url", "web-push-public-key",
                ],
                "hub": ["hub-access", "push-credentials.json", "vapid.pem", "database-url"],
                "hub-emulator": ["hub-connection-string"], "postgres": ["password"],
                "rabbitmq": ["definitions.json"],
            ]
            #expect(try Self.names(in: folders.directory) == Set(expected.keys).union(["admin"]))
            for (service, names) in expected {
                #expect(try Self.names(in: "\(folders.directory)/\(service)") == names, "\(service)")
                let isServer = ["postgres", "rabbitmq"].contains(service)
                for name in names {
                    let mode = SecretFile.mode("\(folders.directory)/\(service)/\(name)")
                    #expect(mode == (isServer ? 0o644 : 0o600), "\(service)/\(name)")
                }
            }
            let urls = try ["ingest", "dispatcher", "retrieval", "operator"].map {
                try SecretFile.read("\(folders.directory)/\($0)/database-url")
            }
            #expect(
                urls[1].wholeMatch(of: /postgres:\/\/securepush_dispatcher:[0-9a-f]{24}@postgres:5432\/securepush/)
                    != nil)
            #expect(Set(urls.map { $0.split(separator: ":")[2] }).count == 4, "a password is shared")
        }
    }

    @Test func `URLs with TLS have the parameters at their end`() async throws {
        try await withTemporaryFolder { folder in
            let folders = try Self.folders(
                in: folder, database: "db:5432/securepush?sslmode=verify-full&sslrootcert=/etc/ca.crt",
                broker: "amqps://mq:5671?cacertfile=/etc/ca.crt")
            _ = try folders.setup.run()
            _ = try folders.run()
            let database = try SecretFile.read("\(folders.directory)/ingest/database-url")
            #expect(database.hasSuffix("@db:5432/securepush?sslmode=verify-full&sslrootcert=/etc/ca.crt"))
            #expect(try SecretFile.read("\(folders.directory)/admin/database-url").hasSuffix("sslrootcert=/etc/ca.crt"))
            let broker = try SecretFile.read("\(folders.directory)/dispatcher/amqp-url")
            #expect(broker.hasPrefix("amqps://securepush_dispatcher:"))
            #expect(broker.hasSuffix("@mq:5671/%2F?cacertfile=/etc/ca.crt"))
            // The services accept both without ALLOW_INSECURE.
            #expect(
                try MessagingConfiguration(amqpURL: broker, retryDelays: [.seconds(1)], connectionName: "test")
                    .amqp.unverifiedHosts == [])
        }
        #expect(BrokerPlace("https://mq:5671") == nil)
    }

    @Test func `The second time nothing changes, and a changed file is handed over again`() async throws {
        try await withTemporaryFolder { folder in
            let folders = try Self.folders(in: folder)
            _ = try folders.setup.run()
            #expect(try !folders.run().isEmpty)
            #expect(try folders.run() == [])
            let key = try APIKeysFile(path: folders.setup.apiKeys).add("other")
            #expect(!key.isEmpty)
            #expect(try folders.run() == ["\(folders.directory)/ingest/api-keys"])
            let keys = try SecretFile.read("\(folders.directory)/ingest/api-keys")
            #expect(try keys == SecretFile.read(folders.setup.apiKeys) && keys.contains("other "))
        }
    }

    @Test func `An Azure hub's string is handed to the services, and each has its own otherwise`() async throws {
        try await withTemporaryFolder { folder in
            let folders = try Self.folders(in: folder)
            _ = try folders.setup.run()
            _ = try folders.run()
            func strings() throws -> [String] {
                try ["dispatcher", "retrieval"].map {
                    try SecretFile.read("\(folders.directory)/\($0)/hub-connection-string")
                }
            }
            #expect(
                try strings()
                    == ["dispatcher", "retrieval"].map {
                        try SecretFile.read(folders.setup.hubConnectionString(of: $0))
                    })
            let azure = "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Full;SharedAccessKey=a2V5"
            _ = try SecretFile.replace(folders.setup.hubConnectionString, azure, mode: 0o600)
            #expect(try !folders.run().isEmpty)
            #expect(try strings() == [azure, azure])
        }
    }

    @Test func `Keys of signed pushes are handed over once they exist`() async throws {
        try await withTemporaryFolder { folder in
            let folders = try Self.folders(in: folder)
            _ = try folders.setup.run()
            _ = try folders.run()
            let secrets = folders.setup.secrets
            _ = try PushKeyFiles(
                signing: "\(secrets)/push-signing-key.pem", verification: "\(secrets)/push-verification-keys.json"
            ).generate()
            let handed = [
                "\(folders.directory)/dispatcher/push-signing-key.pem",
                "\(folders.directory)/retrieval/push-verification-keys.json",
            ]
            #expect(try Set(folders.run()) == Set(handed))
            for path in handed { #expect(SecretFile.mode(path) == 0o600) }
            #expect(try folders.run() == [])
        }
    }

    /// The example of RFC 7677, section 3, as PostgreSQL writes it.
    @Test func `A verifier is PostgreSQL's own form`() throws {
        let salt = try #require(Data(base64Encoded: "W22ZaJ0SNY7soEsUEjb6gQ=="))
        #expect(
            ScramVerifier.text("pencil", salt: salt)
                == "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
                + ":wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=")
    }

    @Test func `Definitions hold hashes, and queues as the services declare them`() throws {
        let text = try BrokerDefinitions(retryDelays: [.seconds(1)]).json { _ in "pencil" }
        #expect(!text.contains("pencil"))
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let queues = try #require(document["queues"] as? [[String: Any]])
        #expect(
            Set(queues.compactMap { $0["name"] as? String }) == [
                "securepush.dead", "securepush.dispatch", "securepush.retry.1",
            ])
        let retry = queues.first { $0["name"] as? String == "securepush.retry.1" }?["arguments"] as? [String: Any]
        #expect(retry?["x-message-ttl"] as? Int == 1000 && retry?["x-queue-type"] as? String == "quorum")
        let permissions = try #require(document["permissions"] as? [[String: String]])
        #expect(permissions.allSatisfy { $0["configure"] == "^$" } && permissions.count == 4)
        // Without passwords there are no users, and so no permissions for them.
        #expect(try !BrokerDefinitions(retryDelays: [.seconds(1)]).json { _ in nil }.contains("securepush_"))
    }
}
