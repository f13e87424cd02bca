import ArgumentParser
import Domain
import Foundation
import Foundations
import SecurePushEnvelope
import Storage
import TestSupport
import Testing

@testable import SecurePushCLI

/// `securepush send --e2e`.
@Suite(.timeLimit(.minutes(3))) struct EncryptedSendTests {
    private let time = Timestamp(milliseconds: 1_800_000_000_000)

    private func target(_ recipient: String, _ keys: [String: EnvelopeSoftwareKey]) throws
        -> SendCommand.EncryptionTarget
    {
        let entries = keys.map { #"{"DeviceId":"\#($0.key)","Key":\#($0.value.publicKey.jwk)}"# }
        let answer = Data(#"{"Keys":[\#(entries.joined(separator: ","))]}"#.utf8)
        return SendCommand.EncryptionTarget(recipient: recipient, keys: try RecipientKeys(answer: answer))
    }

    private func open(
        _ payload: String, for recipient: String, device: String, with key: EnvelopeSoftwareKey,
        senderKeys: SenderKeys? = nil
    ) throws -> Data {
        let envelope = try #require(try Envelope(payload: payload))
        return try envelope.open(for: recipient, device: device, with: [key], senderKeys: senderKeys).content
    }

    @Test(
        arguments: [
            ("a \"b\"", [], #""a \"b\"""#), (#"{"b":1.10,"a":[true, null]}"#, ["--json-payload"], nil),
        ] as [(String, [String], String?)])
    func `Every recipient gets an envelope of their own, with everything else unchanged`(
        payload: String, flags: [String], json: String?
    ) throws {
        let key = EnvelopeSoftwareKey()
        let arguments = ["--to", "alice", "--to", "bob", "--payload", "-", "--e2e", "--collapse-key", "k"] + flags
        let body = try SendCommand.parse(arguments).notification(payload: payload, now: time)
        for recipient in ["alice", "bob"] {
            let encrypted = try SendCommand.encrypted(body, for: target(recipient, ["phone": key]))
            #expect(encrypted.recipients == [recipient] && encrypted.collapseKey == "k")
            let content = try open(encrypted.payloadJSON, for: recipient, device: "phone", with: key)
            // A JSON payload is encrypted as written.
            #expect(String(decoding: content, as: UTF8.self) == json ?? payload)
            #expect(JSONValue(text: encrypted.json)?["Payload"]?["e2e"]?.number == 2)
        }
    }

    @Test func `A recipient whom nobody can read for is an error that names them`() throws {
        let key = EnvelopeSoftwareKey()
        #expect(SendCommand.failure(of: [try target("alice", ["phone": key])]) == nil)
        let targets = [try target("alice", ["phone": key]), try target("bob", [:]), try target("carol", [:])]
        let failure = try #require(SendCommand.failure(of: targets))
        #expect(failure.code == .failed && failure.message.hasPrefix("bob has no device with a key"))
        #expect(failure.details.count == 1 && failure.details[0].hasPrefix("carol"))
        #expect(failure.hint?.contains("--e2e") == true)
    }

    @Test func `The number of devices is told`() throws {
        let keys = { (count: Int) in
            Dictionary(uniqueKeysWithValues: (0..<count).map { ("i\($0)", EnvelopeSoftwareKey()) })
        }
        #expect(SendCommand.summary(of: try target("alice", keys(1))) == "alice: 1 device can read it")
        #expect(SendCommand.summary(of: try target("alice", keys(3))) == "alice: 3 devices can read it")
        #expect(SendCommand.adding(devices: 2, to: #"{"Id":"1"}"#) == #"{"Id":"1","Devices":2}"#)
    }

    /// An installation with a key in the database of the services.
    private func register(_ id: String, of name: String, _ key: EnvelopeSoftwareKey, _ services: LocalServices)
        async throws
    {
        let owner = try #require(UserName(name))
        let publicKey = try #require(EncryptionKey(point: [UInt8](key.publicKey.x963Representation)))
        try await StoreSession.with("sqlite:\(services.folder)/data.sqlite") { store in
            try await store.save(
                Installation(
                    id: id, owner: owner, platform: .apple, handle: id, document: Array("{}".utf8),
                    updatedAt: .now))
            let isKnown = try await store.setEncryptionKey(publicKey, of: id, owner: owner, now: .now)
            #expect(isKnown)
        }
    }

    @Test func `Keys are fetched, the payload is encrypted, and the devices of that moment can read it`() async throws {
        try await LocalServices.with { services in
            let keys = ["phone": EnvelopeSoftwareKey(), "browser": EnvelopeSoftwareKey()]
            for (id, key) in keys { try await register(id, of: "alice", key, services) }
            let sent = try await services.run("send", "--to", "alice", "--payload", "Top secret 4711", "--e2e")
            #expect(sent.code == 0 && sent.lines.count == 1, "\(sent.errors)")
            #expect(sent.errors.contains("alice: 2 devices can read it"))
            // One who registers later cannot.
            let late = EnvelopeSoftwareKey()
            try await register("late", of: "alice", late, services)

            let password = services.setup.passwordFile(of: "alice")
            let inbox = try await services.run(
                "inbox", "--user", "alice", "--password-file", password, "--payloads", "--json")
            #expect(!inbox.output.contains("Top secret"))
            let page = try #require(JSONValue(text: inbox.lines.first ?? ""))
            let payload = try #require(page["Notifications"]?.elements?.first?["Payload"]).json
            for (id, key) in keys {
                let content = try open(payload, for: "alice", device: id, with: key)
                #expect(String(decoding: content, as: UTF8.self) == #""Top secret 4711""#)
            }
            #expect(throws: EnvelopeError.notForThisDevice) {
                try open(payload, for: "alice", device: "late", with: late)
            }

            let json = try await services.run("send", "--to", "alice", "--payload", "x", "--e2e", "--json")
            #expect(json.lines.count == 1 && JSONValue(text: json.output)?["Devices"]?.number == 3)
            try await expectKeys(services)
        }
    }

    /// The keys that the list and the export show: the public part, and nothing for a device without one.
    private func expectKeys(_ services: LocalServices) async throws {
        let database = ["DATABASE_URL": "sqlite:\(services.folder)/data.sqlite"]
        for arguments in [["list", "--json"], ["export"]] {
            let run = try await CommandLineRun(
                ["installations"] + arguments, services.environment.merging(database) { $1 }, in: services.folder)
            #expect(run.code == 0 && run.lines.count == 3, "\(run.errors)")
            for line in run.lines {
                let key = try #require(JSONValue(text: line)?["Key"])
                #expect(key.members?.map(\.name) == ["kty", "crv", "x", "y"])
            }
        }
    }

    @Test func `A failure after the first recipient says how many have it`() async throws {
        let keys = #"{"Keys":[{"DeviceId":"phone","Key":\#(EnvelopeSoftwareKey().publicKey.jwk)}]}"#
        let answer = { @Sendable (request: String, number: Int) -> ScriptedServer.Answer in
            if request.hasPrefix("GET ") { return .init(body: keys) }
            return number == 2 ? .init(status: 201, body: #"{"Id":"1"}"#) : .init(status: 503)
        }
        try await ScriptedServer.with(answer) { server in
            let run = try await CommandLineRun(
                ["send", "--to", "alice", "--to", "bob", "--payload", "x", "--e2e"],
                ["INGEST_URL": server.url, "INGEST_API_KEY": "k"])
            #expect(run.code == 69 && run.lines == ["1"], "\(run.errors)")
            #expect(run.errors.contains("Sent to 1 of 2 recipients"), "\(run.errors)")
            #expect(!run.errors.contains("--idempotency-key"))
        }
    }

    /// Trust on first use: a key that the server adds or exchanges later is refused, with the fingerprints.
    @Test func `New and changed keys are refused until they are accepted`() async throws {
        try await withTemporaryFolder { folder in
            let (phone, renewed, added) = (EnvelopeSoftwareKey(), EnvelopeSoftwareKey(), EnvelopeSoftwareKey())
            let arguments = ["--to", "alice", "--payload", "x", "--e2e", "--pin", "\(folder)/pins.json"]
            let options = try SendCommand.parse(arguments).encryption
            #expect(try options.check([try target("alice", ["phone": phone])]).isEmpty)
            #expect(try options.check([try target("alice", ["phone": phone])]).isEmpty)
            let changed = [try target("alice", ["phone": renewed, "spy": added])]
            let failure = #expect(throws: CommandFailure.self) { try options.check(changed) }
            #expect(failure?.code == .failed)
            #expect(
                failure?.details == [
                    "alice: the key of phone was \(phone.publicKey.fingerprint), is now \(renewed.publicKey.fingerprint)",
                    "alice: the key of spy is new: \(added.publicKey.fingerprint)",
                ])
            // A refusal remembers nothing.
            #expect(try options.check([try target("alice", ["phone": phone])]).isEmpty)
            let accepting = try SendCommand.parse(arguments + ["--accept-new-keys"]).encryption
            #expect(try accepting.check(changed).count == 2)
            #expect(try options.check(changed).isEmpty)
            try "{}".write(toFile: "\(folder)/pins.json", atomically: true, encoding: .utf8)
            let damaged = #expect(throws: CommandFailure.self) { try options.check(changed) }
            #expect(damaged?.code == .configuration)
        }
    }

    @Test(arguments: [["--pin", "f"], ["--sign-with", "f"], ["--e2e", "--accept-new-keys"]])
    func `Options that need others are told`(_ options: [String]) {
        #expect(throws: (any Error).self) {
            try SendCommand.parse(["--to", "alice", "--payload", "x"] + options)
        }
    }

    @Test func `A sender's key signs, and its public half verifies`() async throws {
        try await withTemporaryFolder { folder in
            let made = try await CommandLineRun(["keys", "generate", "--sender"], [:], in: folder)
            #expect(made.code == 0 && made.lines == ["made sender-key.pem", "made sender-keys.json"], "\(made.errors)")
            let again = try await CommandLineRun(["keys", "generate", "--sender"], [:], in: folder)
            #expect(again.code == 1 && again.errors.contains("sender-key.pem exists"))
            let command = try SendCommand.parse([
                "--to", "alice", "--payload", "-", "--e2e", "--sign-with", "\(folder)/sender-key.pem",
            ])
            let sender = try command.encryption.senderKey()
            let key = EnvelopeSoftwareKey()
            let body = try SendCommand.encrypted(
                try command.notification(payload: "x", now: time), for: target("alice", ["phone": key]),
                signedBy: sender)
            let set = try Data(contentsOf: URL(filePath: "\(folder)/sender-keys.json"))
            let content = try open(
                body.payloadJSON, for: "alice", device: "phone", with: key, senderKeys: SenderKeys(jwkSet: set))
            #expect(content == Data(#""x""#.utf8))
        }
    }

    @Test func `Without a key nothing is sent to anybody`() async throws {
        try await LocalServices.with { services in
            try await register("phone", of: "alice", EnvelopeSoftwareKey(), services)
            let sent = try await services.run("send", "--to", "alice", "--to", "bob", "--payload", "x", "--e2e")
            #expect(sent.code == 1 && sent.output.isEmpty)
            #expect(sent.errors.contains("bob has no device with a key"), "\(sent.errors)")
            let list = try await services.run("list")
            #expect(list.code == 0 && list.output.isEmpty)
        }
    }
}
