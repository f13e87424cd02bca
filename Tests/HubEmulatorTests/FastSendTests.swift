import Foundation
import HTTPTypes
import HummingbirdTesting
import Synchronization
import Testing

@testable import HubEmulator

/// Plain sends past the routes and by the routes, over real connections.
@Suite struct FastSendTests {
    static let sends = [
        RawSend(), RawSend(tags: nil), RawSend(format: "FcmV1", tags: "a || T"),
        RawSend(target: "/HUB/Messages/", headers: ["TrackingId: t-1", "x-ms-correlation-request-id: c-1"]),
        RawSend(headers: ["X-Request-Id: try-1", "apns-priority: 10", "User-Agent: a  b", "Empty:"], body: ""),
        RawSend(target: "/hub/messages", body: String(repeating: "x", count: 65_536)),
    ]

    /// What a send came to, without what differs from one to the next: IDs, times, ports.
    private static func outcome(_ send: RawSend, isFast: Bool) async throws -> [String] {
        let outcome = Mutex<[String]>([])
        try await withEmulator(.live, isFast: isFast) { emulator in
            try await emulator.register("AB12", tags: "t")
            let answer = try await RawExchange.send(send.text, port: emulator.port)
            var lines = ["\(answer.status)"] + answer.names
            for (name, value) in answer.headers.sorted(by: { $0.key < $1.key }) where name != "date" {
                let shape = value.replacing(/[0-9a-f]{32}-\d{14}-\d+-\d+/, with: "ID")
                lines.append("\(name): \(shape.replacing(/[0-9a-z-]{36}|[0-9a-z]{13}$/, with: "RANDOM"))")
            }
            var record = try #require(try await emulator.records("?Limit=1").first)
            for name in ["Id", "ReceivedAt", "AcceptedAt", "CompletedAt"] { record[name] = nil }
            let json = try JSONSerialization.data(withJSONObject: record, options: .sortedKeys)
            lines.append(String(decoding: json, as: UTF8.self))
            let push = emulator.state.devices.summaries.first
            lines.append("\(push?.waiting ?? false)")
            let metrics = try await emulator.call(.get, "/metrics", authorization: nil).text
            lines += metrics.split(separator: "\n").filter { $0.contains("requests_total{") }.map(String.init).sorted()
            outcome.withLock { [lines] in $0 = lines }
        }
        return outcome.withLock { $0 }
    }

    @Test(arguments: sends.indices) func bothWaysComeToTheSame(_ index: Int) async throws {
        let fast = try await Self.outcome(Self.sends[index], isFast: true)
        let ordinary = try await Self.outcome(Self.sends[index], isFast: false)
        #expect(fast == ordinary)
        #expect(fast.first == "201")
    }

    @Test func requestsOfAllKindsKeepTheirOrderOnOneConnection() async throws {
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

    @Test func hundredsInOneGoAreAllAnswered() async throws {
        try await withEmulator(.live) { emulator in
            let requests = (0..<500).map { RawSend(headers: ["TrackingId: t-\($0)"]).text }
            let answers = try await RawExchange.converse([requests.joined()], answers: 500, port: emulator.port)
            #expect(answers.map { $0.headers["trackingid"] } == (0..<500).map { "t-\($0)" })
            #expect(emulator.state.log.records(after: nil, limit: nil).count == 500)
        }
    }

    @Test func anExpectationAndALargeBodyAreAnsweredAsBefore() async throws {
        try await withEmulator(.live) { emulator in
            let expecting = RawSend(headers: ["Expect: 100-continue"]).text
            #expect(try await RawExchange.send(expecting, port: emulator.port).status == 201)
            let large = RawSend(body: String(repeating: "x", count: 65_537)).text
            let answers = try await RawExchange.converse([RawSend().text, large], answers: 2, port: emulator.port)
            #expect(answers.map(\.status) == [201, 413])
        }
    }

    @Test func aHubThatDoesNotExistIs404() async throws {
        try await withEmulator(.live, hubNames: ["hub"]) { emulator in
            let other = RawSend(target: "/other/messages").text
            let answers = try await RawExchange.converse(
                [other, RawSend(target: "/livez/messages").text, RawSend().text], answers: 3, port: emulator.port)
            #expect(answers.map(\.status) == [404, 405, 201])
        }
    }
}
