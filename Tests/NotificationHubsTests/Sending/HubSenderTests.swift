import Domain
import Foundations
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import NotificationHubs

@Suite struct HubSenderTests {
    @Test func `Sends and reads the message ID`() async throws {
        try await withFakeHub({ _ in [FakeHub.created("M-7")] }) { hub in
            let outcome = try await withHubSender(hub) { sender, _ in await sender.send(.sample) }
            #expect(outcome == .sent(hubMessageID: "M-7"))
            let request = try #require(hub.requests.first)
            #expect(request.headLines.first == "POST /hub/messages/?api-version=2020-06 HTTP/1.1")
            #expect(request.header("Host") == "127.0.0.1:\(hub.port)")
            #expect(request.header("Authorization")?.hasPrefix("SharedAccessSignature sr=") == true)
            #expect(request.header("ServiceBusNotification-Tags") == "username:alice")
            #expect(request.body == HubNotification.sample.body[...])
        }
    }

    @Test func `A task that prefers its executor stays on the event loop`() async throws {
        try await withFakeHub({ _ in [FakeHub.created("M-7")] }) { hub in
            try await withHubSender(hub) { sender, _ in
                await withTaskExecutorPreference(sender.executor) {
                    #expect(sender.eventLoop.inEventLoop)
                    #expect(await sender.send(.sample) == .sent(hubMessageID: "M-7"))
                    #expect(sender.eventLoop.inEventLoop)
                }
                #expect(!sender.eventLoop.inEventLoop)
            }
        }
    }

    @Test func `A thousand at once are called back once each within the bound`() async throws {
        let script: FakeHub.Script = { request in [.wait(.milliseconds(1)), FakeHub.created("M-\(request.number)")] }
        try await withFakeHub(script) { hub in
            let calls = Mutex([Int](repeating: 0, count: 1000))
            let ids = Mutex(Set<String>())
            try await withHubSender(hub, concurrency: 8) { sender, _ in
                for number in 0..<1000 {
                    sender.send(.sample) { outcome in
                        calls.withLock { $0[number] += 1 }
                        if case .sent(let id?, _) = outcome { _ = ids.withLock { $0.insert(id) } }
                    }
                }
                try await expectEventually { calls.withLock { $0.allSatisfy { $0 > 0 } } }
            }
            #expect(calls.withLock { $0.allSatisfy { $0 == 1 } })
            #expect(ids.withLock { $0.count } == 1000)
            #expect(hub.requests.count == 1000)
            #expect(hub.connections == 8)
            #expect(hub.maxInFlight <= 8)
        }
    }

    @Test func `A connection is used again`() async throws {
        try await withFakeHub({ _ in [FakeHub.created()] }) { hub in
            try await withHubSender(hub) { sender, _ in
                for _ in 0..<20 { #expect(await sender.send(.sample).isSent) }
            }
            #expect(hub.connections == 1)
        }
    }

    @Test func `A refused token is made anew for what follows`() async throws {
        let script: FakeHub.Script = { $0.number == 0 ? [FakeHub.answer("401 Unauthorized")] : [FakeHub.created()] }
        try await withFakeHub(script) { hub in
            let clock = Mutex(Timestamp.now)
            let configuration = try localHub(port: hub.port)
            let tokens = SharedAccessTokens(configuration: configuration) {
                clock.withLock { time in
                    time = time + .seconds(1)
                    return time
                }
            }
            let sender = HubSender(
                configuration: configuration, concurrency: 1, logger: .init(label: "test"), options: .init(),
                tokens: tokens)
            try await withService(sender) { _ in
                #expect(await sender.send(.sample) == .unauthorized(reason: "HTTP 401"))
                #expect(await sender.send(.sample).isSent)
                #expect(await sender.send(.sample).isSent)
            }
            let used = hub.requests.compactMap { $0.header("Authorization") }
            #expect(used[0] != used[1])
            #expect(used[1] == used[2])
        }
    }

    @Test func `A notification that cannot be written is rejected and harms no other`() async throws {
        try await withFakeHub({ _ in [FakeHub.created()] }) { hub in
            var smuggler = HubNotification.sample
            smuggler.tag = "a\r\nX: y"
            let notification = smuggler
            try await withHubSender(hub, concurrency: 1) { sender, _ in
                async let refused = sender.send(notification)
                async let sent = sender.send(.sample)
                #expect(await refused.meaning.error?.contains("control character") == true)
                #expect(await sent.isSent)
            }
            #expect(hub.requests.count == 1)
        }
    }
}
