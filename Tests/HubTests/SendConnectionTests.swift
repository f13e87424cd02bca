import HummingbirdTesting
import Testing

@testable import Hub

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
}
