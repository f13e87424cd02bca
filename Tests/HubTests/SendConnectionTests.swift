import HummingbirdTesting
import PushServices
import ServiceRuntime
import Storage
import Synchronization
import Testing

@testable import Hub

/// A push service that notes whether an event loop pushes.
private final class LoopWatch: PushConnector {
    private let pushes = Mutex<[Bool]>([])

    var areOnEventLoop: [Bool] { pushes.withLock { $0 } }

    func push(_ request: PushRequest, deadline: ContinuousClock.Instant) async -> PushResult {
        pushes.withLock { $0.append(EventLoopTaskExecutor.current != nil) }
        return PushResult(.accepted, reason: "planned")
    }

    func checkCredentials(deadline: ContinuousClock.Instant) async -> CredentialCheck { .good }
    func close(deadline: ContinuousClock.Instant) async {}
}

/// Sends over real connections, byte for byte.
@Suite struct SendConnectionTests {
    @Test func `Requests of all kinds keep their order on one connection`() async throws {
        try await withEmulator(.live) { emulator in
            let wrong = RawSend(authorization: TestToken.make(key: "other"))
            let requests = [
                RawSend().text, "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n", RawSend().text, wrong.text, RawSend().text,
                RawSend(format: "template", body: "{}").text, RawSend(tags: "&&").text, RawSend().text,
            ]
            let expected = [201, 200, 201, 401, 201, 201, 400, 201]
            let whole = try await RawExchange.converse(
                [requests.joined()], answers: requests.count, port: emulator.port)
            #expect(whole.map(\.status) == expected)
            let text = Array(requests.joined().utf8)
            let pieces = stride(from: 0, to: text.count, by: 97).map {
                String(decoding: text[$0..<min($0 + 97, text.count)], as: UTF8.self)
            }
            let pieced = try await RawExchange.converse(pieces, answers: requests.count, port: emulator.port)
            #expect(pieced.map(\.status) == expected)
        }
    }

    @Test func `Hundreds in one go are all answered`() async throws {
        try await withEmulator(.live) { emulator in
            let requests = (0..<500).map { RawSend(headers: ["TrackingId: t-\($0)"]).text }
            let answers = try await RawExchange.converse([requests.joined()], answers: 500, port: emulator.port)
            #expect(answers.map { $0.headers["trackingid"] } == (0..<500).map { "t-\($0)" })
            #expect(emulator.state.log.records(after: nil, limit: nil).count == 500)
        }
    }

    @Test func `An expectation and a large body are answered as before`() async throws {
        try await withEmulator(.live) { emulator in
            let expecting = RawSend(headers: ["Expect: 100-continue"]).text
            #expect(try await RawExchange.send(expecting, port: emulator.port).status == 201)
            let large = RawSend(body: String(repeating: "x", count: 65_537)).text
            let answers = try await RawExchange.converse([RawSend().text, large], answers: 2, port: emulator.port)
            #expect(answers.map(\.status) == [201, 413])
        }
    }

    @Test func `A hub that does not exist is 404`() async throws {
        try await withEmulator(.live, hubNames: ["hub"]) { emulator in
            let other = RawSend(target: "/other/messages").text
            let answers = try await RawExchange.converse(
                [other, RawSend(target: "/livez/messages").text, RawSend().text], answers: 3, port: emulator.port)
            #expect(answers.map(\.status) == [404, 405, 201])
        }
    }

    @Test(arguments: HubName.reserved.sorted().filter { !$0.hasPrefix("$") })
    func `No hub has the name of a path of the service, by either way`(_ name: String) async throws {
        try await withEmulator(.live) { emulator in
            // The second query is the router's.
            let targets = ["api-version=2020-06", "api-version=2020-06&a=b"].map { "/\(name)/messages?\($0)" }
            let sends = targets.map { RawSend(target: $0).text }
            let answers = try await RawExchange.converse([sends.joined()], answers: 2, port: emulator.port)
            #expect(answers.count == 2 && answers[0].status == answers[1].status)
        }
    }

    /// One device has its push on the event loop of the connection. A page of many, and what follows it, has not.
    @Test(arguments: [0, HubTables.pageSize])
    func `A send to many devices leaves the event loop to others`(_ others: Int) async throws {
        let connector = LoopWatch()
        var pushers = PlatformPushers()
        pushers["hub", .apple] = .connector(connector, version: 1)
        try await withEmulator(.live, pushers: pushers) { emulator in
            for _ in 0..<others { try await emulator.register("aa", tags: "t") }
            try await emulator.register("bb", tags: "t")
            #expect(try await RawExchange.send(RawSend().text, port: emulator.port).status == 201)
            #expect(connector.areOnEventLoop == (others == 0 ? [true] : [false, false]))
        }
    }
}
