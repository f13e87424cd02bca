import ArgumentParser
import Authentication
import Domain
import Foundation
import Foundations
import Hub
import OutgoingHTTP
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct SetupTests {
    private func contents(of folder: String) throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { files, name in
            files[name] = FileManager.default.contents(atPath: "\(folder)/\(name)")
        }
    }

    @Test func `It makes what is missing, and the second time nothing`() async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://127.0.0.1:8090/")
            #expect(try setup.run().count == 18)
            let before = try contents(of: setup.secrets)
            #expect(try setup.run() == [])
            #expect(try contents(of: setup.secrets) == before)
        }
    }

    @Test func `A mistake in the options makes nothing`() async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandLineRun(["setup", "--directory", "new", "--services", "s"], in: folder)
            #expect(run.code == 64 && run.errors.contains("--broker"), "\(run.errors)")
            #expect(!SecretFile.exists(folder + "/new"))
        }
    }

    @Test func `With folders of services it makes demo accounts only if asked`() async throws {
        try await withTemporaryFolder { folder in
            let arguments = [
                "setup", "--directory", "state", "--services", "services", "--database", "db:5432/s", "--broker",
                "mq:5672",
            ]
            let first = try await CommandLineRun(arguments, in: folder)
            #expect(first.code == 0, "\(first.errors)")
            let setup = LocalSetup(directory: folder + "/state", hubEndpoint: "")
            #expect(try UsersFile(path: setup.usersFile).list() == [])
            #expect(try APIKeysFile(path: setup.apiKeys).list() == [])
            #expect(!SecretFile.exists(setup.apiKey) && !SecretFile.exists(setup.passwordFile(of: "alice")))
            #expect(SecretFile.exists(folder + "/services/ingest/api-keys"))
            let second = try await CommandLineRun(arguments, in: folder)
            #expect(second.output == "nothing to do\n")
            let third = try await CommandLineRun(arguments + ["--demo"], in: folder)
            #expect(third.code == 0, "\(third.errors)")
            #expect(try UsersFile(path: folder + "/services/ingest/users").list().map(\.text) == ["alice", "bob"])
            #expect(try APIKeysFile(path: folder + "/services/ingest/api-keys").list() == ["demo"])
        }
    }

    @Test func `It is told where to put it`() async throws {
        let command = try #require(try SecurePush.parseAsRoot(["setup"]) as? SetupCommand)
        let error = await #expect(throws: CommandFailure.self) { try await command.run(on: Console(command.output)) }
        #expect(error?.code == .usage)
    }

    @Test func `Nobody else can read it`() async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://127.0.0.1:8090/")
            _ = try setup.run()
            #expect(SecretFile.mode(setup.secrets) == 0o700)
            let names = try contents(of: setup.secrets).keys
            #expect(names.count == 19)
            for name in names { #expect(SecretFile.mode("\(setup.secrets)/\(name)") == 0o600, "\(name)") }
        }
    }

    @Test func `What it made fits together`() async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://hub-emulator:8090/")
            _ = try setup.run()
            #expect(try KeysCommand.ring(setup.payloadKeys).keyIDs.count == 1)
            #expect(try UsersFile(path: setup.usersFile).list().map(\.text) == ["alice", "bob"])
            #expect(try APIKeysFile(path: setup.apiKeys).list() == ["demo"])
            let key = try TokenSigningKey(path: setup.signingKey)
            #expect(try SecretFile.read(setup.jwks) == key.publicJWKS)
            #expect(try SecretFile.read(setup.hubConnectionString).hasPrefix("Endpoint=http://127.0.0.1:8090/;"))
            #expect(try HubTools.hubs(ofAccessFile: setup.hubAccess) == ["securepush"])
            let access = try SecretFile.read(setup.hubAccess)
            for (rule, right) in [("dispatcher", "Send"), ("retrieval", "Manage")] {
                let text = try SecretFile.read(setup.hubConnectionString(of: rule))
                #expect(
                    text.hasPrefix("Endpoint=http://hub-emulator:8090/;SharedAccessKeyName=\(rule);SharedAccessKey="))
                let key = try #require(text.split(separator: "SharedAccessKey=").last)
                #expect(access.contains("securepush \(rule) \(right) \(key)"))
            }
            let platforms = try HubTools.platforms(ofCredentialsFile: setup.pushCredentials, outgoing: .init())
            #expect(platforms.map(\.name) == ["apns", "fcm", "wns", "webPush"])
            #expect(platforms.map(\.isSimulated) == [true, true, true, false])
            #expect(try SecretFile.read(setup.vapidPublicKey).utf8.count == 87)
        }
    }

    @Test(arguments: [
        "alice.password", "users", "jwks.json", "hub-connection-string", "payload.keys", "api-keys",
        "push-credentials.json",
    ])
    func `A missing file is made again, and the others stay`(name: String) async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://127.0.0.1:8090/")
            _ = try setup.run()
            let before = try contents(of: setup.secrets)
            try FileManager.default.removeItem(atPath: "\(setup.secrets)/\(name)")
            if name == "api-keys" {
                #expect(throws: CommandFailure.self) { try setup.run() }
                return
            }
            #expect(try !setup.run().isEmpty)
            let after = try contents(of: setup.secrets)
            let changed = before.keys.filter { before[$0] != after[$0] }
            // A new password changes the file of users too; another order there is no harm.
            #expect(Set(changed).isSubset(of: name == "alice.password" ? [name, "users"] : [name]))
        }
    }

    @Test func `Keys are never overwritten`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/payload.keys"
            let command = try KeysCommand.Generate.parse(["--payload-keys-file", path])
            try await command.run(on: Console(command.output))
            let text = try SecretFile.read(path)
            await #expect(throws: CommandFailure.self) { try await command.run(on: Console(command.output)) }
            #expect(try SecretFile.read(path) == text)
        }
    }
}
