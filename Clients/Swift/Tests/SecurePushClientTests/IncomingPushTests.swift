import Foundation
import Testing

@testable import SecurePushClient

@Suite(.timeLimit(.minutes(10))) struct IncomingPushTests {
    private static let id = "019aa4a2-1c9b-7c3e-9f4e-2f6f1d0a8b11"

    @Test func everyFormIsRead() {
        let pushes = [
            IncomingPush(userInfo: ["aps": ["content-available": 1], "secureId": Self.id, "ts": "1", "sig": "s"]),
            IncomingPush(data: ["secureId": Self.id, "ts": "1", "sig": "s"]),
            IncomingPush(raw: "\(Self.id) 1 s"), IncomingPush(raw: "\(Self.id) 1 s\n"),
            IncomingPush(json: Data("{\"secureId\":\"\(Self.id)\",\"ts\":\"1\",\"sig\":\"s\"}".utf8)),
        ]
        for push in pushes {
            #expect(push.id?.rawValue == Self.id && push.isSecurePush && !push.isWithdrawal)
            #expect(push.timestamp == "1" && push.signature == "s")
        }
    }

    @Test func withdrawalsAreRead() {
        for push in [
            IncomingPush(userInfo: ["secureId": Self.id, "withdraw": "1"]),
            IncomingPush(data: ["secureId": Self.id, "withdraw": "1"]),
            IncomingPush(raw: "\(Self.id) withdraw"), IncomingPush(raw: "\(Self.id) withdraw 1 s"),
            IncomingPush(json: Data("{\"secureId\":\"\(Self.id)\",\"withdraw\":\"1\"}".utf8)),
        ] {
            #expect(push.id?.rawValue == Self.id && push.isWithdrawal)
        }
    }

    @Test func hostilePushesAreUnusable() {
        let huge = String(repeating: "a", count: 1 << 20)
        let pushes = [
            IncomingPush(userInfo: ["secureId": 1]), IncomingPush(userInfo: ["secureId": [Self.id]]),
            IncomingPush(userInfo: ["secureId": NSNull()]), IncomingPush(userInfo: ["secureId": huge]),
            IncomingPush(userInfo: ["secureId": Self.id, "withdraw": true]),
            IncomingPush(userInfo: ["secureId": Self.id, "withdraw": "yes"]), IncomingPush(data: ["secureId": ""]),
            IncomingPush(data: ["secureId": "a/b"]), IncomingPush(data: ["secureId": "a\u{0}b"]),
            IncomingPush(data: ["secureId": ".."]), IncomingPush(data: ["secureId": "a\nb"]),
            IncomingPush(data: ["secureId": "https://evil.example/1"]), IncomingPush(data: ["secureId": "ä"]),
            IncomingPush(raw: ""), IncomingPush(raw: " "), IncomingPush(raw: huge), IncomingPush(raw: "\(Self.id) 1"),
            IncomingPush(raw: "\(Self.id) withdraw 1 s x"), IncomingPush(raw: "\(Self.id)  1 s"),
            IncomingPush(json: Data()), IncomingPush(json: Data("[]".utf8)), IncomingPush(json: Data("{".utf8)),
            IncomingPush(json: Data(repeating: UInt8(ascii: "["), count: 4_000)), IncomingPush(json: Data(huge.utf8)),
        ]
        for (index, push) in pushes.enumerated() { #expect(push.id == nil && push.isSecurePush, "\(index)") }
    }

    @Test func otherPushesAreNotOurs() async throws {
        let push = IncomingPush(userInfo: ["aps": ["alert": "Hello"], "other": 1])
        #expect(!push.isSecurePush && push.id == nil)
        let phone = try await SimulatedPhone()
        #expect(await phone.client.handle(push: push) == WakeReport(code: .malformedPush))
        #expect(phone.requests.isEmpty)
        #expect(await phone.screen.noticed.isEmpty)
    }

    @Test func aHostInAPushIsNeverAsked() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add(Self.id)
        let push = IncomingPush(userInfo: [
            "secureId": Self.id, "url": "https://evil.example", "host": "evil.example", "retrievalURL": "https://evil",
        ])
        _ = await phone.client.handle(push: push)
        let hosts = phone.server.change { state in Set(state.requests.compactMap(\.url.host)) }
        #expect(hosts == ["push.example.com"])
    }

    @Test func anUnusablePushShowsOneGenericText() async throws {
        let phone = try await SimulatedPhone()
        for _ in 0..<3 { _ = await phone.client.handle(push: IncomingPush(data: ["secureId": "../x"])) }
        #expect(await phone.screen.notices.values.map(\.code) == [.malformedPush])
        #expect(phone.requests.isEmpty)
    }

    @Test func randomBytesDoNoHarm() {
        var generator = SystemRandomNumberGenerator()
        guard let id = PushID("a") else { return }
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...200, using: &generator)).map { _ in UInt8.random(in: 0...255) }
            _ = IncomingPush(json: Data(bytes))
            _ = IncomingPush(raw: String(decoding: bytes, as: UTF8.self))
            _ = try? SecretAnswer(Data(bytes), for: id)
        }
    }

    /// To Swift, a blank and an accent after it are one character. The other SDKs split at each blank.
    @Test func rawNotificationsAreSplitByBytes() {
        let push = IncomingPush(raw: "\(Self.id) 1 \u{301}s")
        #expect(push.id?.rawValue == Self.id)
        #expect(push.signature == "\u{301}s")
        #expect(IncomingPush(raw: "\(Self.id) 1 s\r\n") == IncomingPush(raw: "\(Self.id) 1 s\n"))
    }
}
