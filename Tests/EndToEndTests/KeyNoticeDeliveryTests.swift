import Domain
import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// `E2E_KEY_NOTICE`: from the new key of one device to the notification on the user's other device.
@Suite("Notices of new encryption keys", .serialized, .broker, .timeLimit(.minutes(5)))
struct KeyNoticeDeliveryTests {
    private struct Push: Decodable {
        let Kind: String
        let Body: String
        let Deliveries: [String]
    }

    /// Registers an installation of a user and a key of its own.
    private func register(_ id: String, of user: String, at retrieval: RunningService, _ stack: Stack) async throws {
        let token = stack.token(of: user)
        let installation = try await retrieval.request(
            .PUT, "/api/installations/\(id)", bearer: token,
            body: #"{"platform":"fcmv1","pushChannel":"handle-of-\#(id)"}"#)
        #expect(installation.status == 200, "\(installation.body)")
        let jwk = try #require(EncryptionKey(point: ES256Key().publicPoint)).jwk
        let key = try await retrieval.request(.PUT, "/api/devices/\(id)/key", bearer: token, body: jwk)
        #expect(key.status == 204, "\(key.body)")
    }

    @Test(arguments: TestDatabase.allCases)
    func `The user's other device is told about a new key, if the setting is on`(_ database: TestDatabase) async throws
    {
        try await withStack(database) { stack in
            let (emulator, connection) = try await stack.startEmulator()
            let hub = ["HUB_CONNECTION_STRING": connection]
            let on = hub.merging(["E2E_KEY_NOTICE": "true"]) { $1 }
            let ingest = try await stack.start("ingest", on)
            let dispatcher = try await stack.start("dispatcher", hub)
            let retrieval = try await stack.start("retrieval", on)
            let silent = try await stack.start("retrieval", hub)
            try await expectReady(ingest, dispatcher)
            for service in [retrieval, silent] { #expect(try await service.isReady(#""database":"up""#)) }

            // Ingest tells the longest due notice first: with one of bob's, he would be told before alice.
            for id in ["bob-phone", "bob-laptop"] { try await register(id, of: "bob", at: silent, stack) }
            for id in ["phone", "laptop"] { try await register(id, of: "alice", at: retrieval, stack) }
            let pushes = {
                let records: [Push] = try await emulator.request(.GET, "/emulator/messages").decoded()
                return records.filter { $0.Kind == "send" && !$0.Deliveries.isEmpty }
            }
            #expect(try await eventually(within: .seconds(60)) { try await !pushes().isEmpty })
            let sent = try await pushes()
            #expect(sent.map { Set($0.Deliveries) } == [["handle-of-phone", "handle-of-laptop"]])

            let inbox = { (user: String) in
                try await retrieval.request(
                    .GET, "/api/notifications?include=payload", bearer: stack.token(of: user)
                ).body
            }
            let told = try await inbox("alice")
            let notice = #""Payload":"A device of yours has a new key for encrypted messages."#
            #expect(told.split(separator: notice).count == 2, "\(told)")
            let id = try #require(told.firstRange(of: #""Id":""#).map { told[$0.upperBound...].prefix(36) })
            #expect(sent.first?.Body.contains(id) == true)
            #expect(try await inbox("bob") == #"{"Notifications":[],"Unread":0}"#)
            for service in [ingest, dispatcher, retrieval, silent] { try await service.drain() }
        }
    }
}
