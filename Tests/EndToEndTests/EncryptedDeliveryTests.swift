import Crypto
import Domain
import Foundation
import Foundations
import NIOHTTP1
@_spi(TestVectors) import SecurePushEnvelope
import StackKit
import TestSupport
import Testing

/// From a sender who encrypts to the devices that open it: what the services, the broker and the database have of it.
@Suite("End-to-end encryption", .serialized, .broker, .timeLimit(.minutes(5)))
struct EncryptedDeliveryTests {
    /// The services around an emulator, where only encrypted payloads are accepted.
    private struct Services {
        let stack: Stack
        let ingest: RunningService
        let retrieval: RunningService
        let emulator: RunningService
        let settings: [String: String]

        init(_ stack: Stack) async throws {
            self.stack = stack
            let (emulator, connection) = try await stack.startEmulator()
            settings = ["HUB_CONNECTION_STRING": connection, "RECIPIENT_E2E_REQUIRED": "true"]
            ingest = try await stack.start("ingest", settings)
            retrieval = try await stack.start("retrieval", settings)
            self.emulator = emulator
            try await expectReady(ingest)
            #expect(try await retrieval.isReady(#""database":"up""#))
        }

        /// Registers a device of alice with a key.
        func register(_ id: String, _ key: EnvelopeSoftwareKey) async throws {
            let token = stack.token(of: "alice")
            let installation = #"{"platform":"fcmv1","pushChannel":"handle-of-\#(id)"}"#
            let registered = try await retrieval.request(
                .PUT, "/api/installations/\(id)", bearer: token, body: installation)
            #expect(registered.status == 200, "\(registered.body)")
            let keyed = try await retrieval.request(
                .PUT, "/api/devices/\(id)/key", bearer: token, body: key.publicKey.jwk)
            #expect(keyed.status == 204, "\(keyed.body)")
        }

        func keys() async throws -> RecipientKeys {
            let answer = try await ingest.request(.GET, RecipientKeys.path(of: "alice"), bearer: stack.apiKey)
            #expect(answer.status == 200, "\(answer.body)")
            return try RecipientKeys(answer: Data(answer.body.utf8))
        }

        /// The payload as a device of alice gets it.
        func payload(of id: NotificationID) async throws -> String {
            let answer = try await retrieval.request(
                .GET, "/api/notifications/\(id)", bearer: stack.token(of: "alice"))
            #expect(answer.status == 200, "\(answer.body)")
            return try #require(JSONValue(text: answer.body)?["Payload"]).json
        }

        /// The bodies that crossed the hub.
        func pushes() async throws -> String {
            try await emulator.request(.GET, "/emulator/messages").body
        }
    }

    /// What a device reads.
    private static func open(_ payload: String, device: String, with key: EnvelopeSoftwareKey) throws -> Data {
        let envelope = try #require(try Envelope(payload: payload))
        return try envelope.open(for: "alice", device: device, with: [key]).content
    }

    /// One notification, and the two values that nobody on the way may have.
    private struct Sealed {
        let secret = Data("The results of \(UUID().uuidString) are in.".utf8)
        let contentKey = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }

        func payload(for keys: RecipientKeys) throws -> String {
            var randomness = EnvelopeRandomness()
            randomness.contentKey = contentKey
            let content = Data(#"{"Text":""#.utf8) + secret + Data(#""}"#.utf8)
            return try Envelope.seal(content, for: "alice", devices: keys.devices, with: randomness)
        }

        var search: SecretSearch { SecretSearch([secret, contentKey]) }
    }

    @Test func `Nobody on the way has the secret or the content key on SQLite`() async throws {
        try await withStack { stack in
            try await expectNothingOnTheWay(stack, database: stack.folder.appending(path: "data"))
        }
    }

    @Test func `Nobody on the way has the secret or the content key on PostgreSQL`() async throws {
        try await withPostgresServer { server in
            try await withStack(databaseURL: server.url) { stack in
                try await expectNothingOnTheWay(stack, database: server.folder)
            }
        }
    }

    private func expectNothingOnTheWay(_ stack: Stack, database: URL) async throws {
        let services = try await Services(stack)
        let devices = ["phone": EnvelopeSoftwareKey(), "browser": EnvelopeSoftwareKey()]
        for (id, key) in devices { try await services.register(id, key) }
        let keys = try await services.keys()
        #expect(keys.devices == devices.mapValues(\.publicKey))

        let sealed = Sealed()
        let id = try await services.ingest.post(try sealed.payload(for: keys), to: "alice", stack)
        // The dispatcher does not run yet, so its message waits in the broker.
        let found = SecretSearch([Data(id.description.utf8)])
        #expect(try await eventually { found.hits(below: stack.broker.folder) > 0 })
        let search = sealed.search
        #expect(search.hits(below: stack.broker.folder) == 0)
        let dispatcher = try await stack.start("dispatcher", services.settings)
        #expect(try await eventually { try await services.pushes().contains("\(id)") })

        let payload = try await services.payload(of: id)
        for (device, key) in devices {
            let content = try Self.open(payload, device: device, with: key)
            #expect(content.range(of: sealed.secret) != nil)
        }
        let pushes = try await services.pushes()
        #expect(search.hits(in: Data(pushes.utf8)) == 0)
        #expect(
            SecretSearch([Data("handle-of-phone".utf8)]).hits(below: database) > 0, "the search finds what is there")
        #expect(search.hits(below: database) == 0)
        #expect(search.hits(below: stack.broker.folder) == 0)
        #expect(stack.logs.contains("listening on") && search.hits(in: Data(stack.logs.utf8)) == 0)
        try expectNothing(search, inMemoryOf: [services.ingest, dispatcher, services.retrieval, services.emulator])
        for service in [services.ingest, dispatcher, services.retrieval] { try await service.drain() }
    }

    /// A core dump of each service would not have it either. Services hide their memory, so only root can look.
    private func expectNothing(_ search: SecretSearch, inMemoryOf services: [RunningService]) throws {
        #if os(Linux)
        guard geteuid() == 0 else { return }
        for service in services {
            let there = SecretSearch([Data("HUB_CONNECTION_STRING=".utf8)])
            let control = try there.hits(inMemoryOf: service.process.id)
            #expect(control.found > 0, "the search finds what is there: \(service.process.name) \(control)")
            let result = try search.hits(inMemoryOf: service.process.id)
            #expect(result.found == 0, "\(service.process.name) \(result)")
        }
        #endif
    }

    @Test func `A device that is added later cannot read what was sent before`() async throws {
        try await withStack { stack in
            let services = try await Services(stack)
            let (phone, tablet) = (EnvelopeSoftwareKey(), EnvelopeSoftwareKey())
            try await services.register("phone", phone)
            let sealed = Sealed()
            let id = try await services.ingest.post(try sealed.payload(for: services.keys()), to: "alice", stack)
            try await services.register("tablet", tablet)
            let payload = try await services.payload(of: id)
            #expect(throws: EnvelopeError.notForThisDevice) {
                try Self.open(payload, device: "tablet", with: tablet)
            }
            // The next one is for both, and after a new key only that key opens it.
            let renewed = EnvelopeSoftwareKey()
            try await services.register("phone", renewed)
            let next = try await services.ingest.post(try Sealed().payload(for: services.keys()), to: "alice", stack)
            let later = try await services.payload(of: next)
            for (device, key) in ["phone": renewed, "tablet": tablet] {
                #expect(throws: Never.self) { try Self.open(later, device: device, with: key) }
            }
            #expect(throws: EnvelopeError.unopenable) {
                try Self.open(later, device: "phone", with: phone)
            }
            // A removed device is no longer among the keys.
            let removal = try await services.retrieval.request(
                .DELETE, "/api/installations/phone", bearer: stack.token(of: "alice"))
            #expect(removal.status == 204)
            #expect(try await services.keys().devices == ["tablet": tablet.publicKey])
        }
    }

    @Test func `What is not encrypted is refused`() async throws {
        try await withStack { stack in
            let services = try await Services(stack)
            let plain = #"{"Recipient":"alice","Payload":"Your results are in."}"#
            let sent = try await services.ingest.request(
                .POST, "/api/notifications", bearer: stack.apiKey, body: plain)
            #expect(sent.status == 422 && sent.body.contains(#""pointer":"/Payload""#), "\(sent.body)")
            let confirmation = try await services.ingest.request(
                .POST, "/api/notifications", bearer: stack.token(of: "alice"))
            #expect(confirmation.status == 422 && confirmation.body.contains(#""pointer":"/Payload""#))
        }
    }
}
