import Domain
import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// Executables, broker and databases as in production; only the hub is a stub.
@Suite("From the sender to the device", .serialized, .broker, .timeLimit(.minutes(5)))
struct DeliveryTests {
    @Test(arguments: TestDatabase.allCases)
    func `A notification wakes three platforms and is read`(_ database: TestDatabase) async throws {
        try await withStack(database) { stack in
            let ingest = try await stack.start("ingest")
            let dispatcher = try await stack.start("dispatcher")
            let retrieval = try await stack.start("retrieval")
            try await expectReady(ingest, dispatcher)
            #expect(try await retrieval.isReady(#""database":"up""#))

            let payload = #"{"n":1.10,"t":"\u00e9 é","x":null}"#
            let id = try await ingest.post(payload, to: "Alice B", stack)
            #expect(try await eventually { stack.hub.has([id]) })
            #expect(stack.hub.sends.count == 3)
            for send in stack.hub.sends { try expectNativeForm(send, id: id) }

            let path = "/api/notifications/\(id)"
            for isRead in [false, true] {
                let answer = try await retrieval.request(.GET, path, bearer: stack.token(of: "Alice B"))
                #expect(answer.status == 200)
                #expect(answer.body.hasPrefix(#"{"Id":"\#(id)","ExpiresAt":""#))
                #expect(answer.body.hasSuffix(#"","Payload":\#(payload),"Read":\#(isRead)}"#))
            }
            #expect(try await retrieval.request(.GET, path, bearer: stack.token(of: "alice b")).status == 404)
            for service in [ingest, dispatcher, retrieval] { try await service.drain() }
        }
    }

    /// The contract's table of native notifications, silent form.
    private func expectNativeForm(_ send: HubStub.Send, id: NotificationID) throws {
        #expect(send.tag == "username:#41lice#20#42")
        #expect(send.headers["authorization"]?.hasPrefix("SharedAccessSignature sr=") == true)
        let type = send.headers["content-type"]
        let own = send.headers.filter { $0.key.hasPrefix("apns-") || $0.key.hasPrefix("x-wns-") }
        switch send.format {
        case "apple":
            #expect(send.body == #"{"aps":{"content-available":1},"secureId":"\#(id)"}"#)
            #expect(type == "application/json;charset=utf-8")
            #expect(own == ["apns-push-type": "background", "apns-priority": "5"])
        case "fcmv1":
            #expect(send.body == #"{"message":{"data":{"secureId":"\#(id)"},"android":{"priority":"high"}}}"#)
            #expect(type == "application/json;charset=utf-8")
            #expect(own.isEmpty)
        case "windows":
            #expect(send.body == id.description)
            #expect(type == "application/octet-stream")
            #expect(own == ["x-wns-type": "wns/raw"])
        default: Issue.record("unexpected format \(send.format)")
        }
    }

    @Test func `The broker may go away`() async throws {
        try await withStack { stack in
            let ingest = try await stack.start("ingest")
            let dispatcher = try await stack.start("dispatcher")
            try await expectReady(ingest, dispatcher)
            var ids = [try await ingest.post("1", to: "alice", stack)]
            #expect(try await eventually { stack.hub.has(ids) })

            try await stack.broker.kill()
            #expect(try await ingest.isReady(#""amqp":"down""#))
            // What it found out holds for a second.
            #expect(try await eventually { try await dispatcher.request(.GET, "/readyz").status == 503 })
            for number in 0..<20 { ids.append(try await ingest.post("\(number)", to: "alice", stack)) }

            try await stack.broker.start()
            _ = try await stack.broker.heal()
            #expect(try await eventually { stack.hub.has(ids) })
            for service in [ingest, dispatcher] { try await service.drain() }
        }
    }

    /// One wrong letter in `HUB_NAME`: the hub answers every send with 404, until the letter is corrected.
    @Test func `A wrong hub name uses no attempt`() async throws {
        try await withStack { stack in
            let ingest = try await stack.start("ingest")
            let dispatcher = try await stack.start("dispatcher")
            try await expectReady(ingest, dispatcher)
            stack.hub.answer(404)
            let ids = try await post(25, to: ingest, stack)
            let isHeld = try await eventually {
                let metrics = try await dispatcher.request(.GET, "/metrics").body
                return metrics.components(separatedBy: "securepush_lane_state{").dropFirst()
                    .count { $0.prefix { $0 != "\n" }.hasSuffix(" 2") } == 3
            }
            #expect(isHeld)
            #expect(dispatcher.process.standardError.contains("There is no hub of this name at this endpoint"))
            for id in ids {
                let answer = try await ingest.request(.GET, "/api/notifications/\(id)/status", bearer: stack.apiKey)
                // The intake takes few while all lanes are held; the others are as they were accepted.
                let isOwed = ["accepted", "queued"].contains { answer.body.contains(#""Status":"\#($0)""#) }
                #expect(isOwed && !answer.body.contains(#""Attempts":1"#), "\(answer.body)")
            }
            stack.hub.answer(201)
            let isThere = try await eventually {
                try await stack.areDispatched(ids, ingest)
            }
            #expect(isThere)
            for service in [ingest, dispatcher] { try await service.drain() }
        }
    }

    @Test func `Nothing secret is left on the way`() async throws {
        try await withStack { stack in
            let ingest = try await stack.start("ingest")
            let dispatcher = try await stack.start("dispatcher")
            let retrieval = try await stack.start("retrieval")
            try await expectReady(ingest, dispatcher)
            let canary = "canary\(UUID().uuidString)"
            let token = stack.token(of: "alice")
            let id = try await ingest.post(#"["\#(canary)"]"#, to: "alice", stack)
            #expect(try await eventually { stack.hub.has([id]) })
            let answer = try await retrieval.request(.GET, "/api/notifications/\(id)", bearer: token)
            #expect(answer.body.contains(canary))
            // Refused requests must not show it either.
            _ = try await ingest.request(
                .POST, "/api/notifications", bearer: stack.apiKey, body: #"{"Recipient":7,"Payload":"\#(canary)"}"#)
            _ = try await ingest.request(.POST, "/api/notifications", bearer: canary, body: "\(canary)")

            let secrets = [canary, stack.apiKey, token, "MDEyMzQ1Njc4OTAx"]
            for secret in secrets { #expect(!stack.logs.contains(secret), "in a log") }
            #expect(stack.logs.contains("listening on"))
            for send in stack.hub.sends { #expect(!"\(send)".contains(canary)) }
            let data = stack.folder.appending(path: "data")
            let search = SecretSearch([Data(canary.utf8)])
            #expect(SecretSearch([Data("alice".utf8)]).hits(below: data) > 0, "the search finds what is there")
            #expect(search.hits(below: data) == 0)
            #expect(SecretSearch([Data("securepush.dispatch".utf8)]).hits(below: stack.broker.folder) > 0)
            #expect(search.hits(below: stack.broker.folder) == 0)
            for service in [ingest, dispatcher, retrieval] { try await service.drain() }
        }
    }
}
