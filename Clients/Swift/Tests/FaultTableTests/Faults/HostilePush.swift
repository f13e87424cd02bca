import Foundation
import SecurePushClient

/// Pushes that the server never sent.
enum HostilePush {
    /// Pushes that claim to be for a notification: wrong types, huge, forged, with a host, with control characters.
    static func all(of id: PushID) -> [IncomingPush] {
        let secureID = id.rawValue
        let forged = String(repeating: "A", count: 86)
        let objects: [[AnyHashable: Any]] = [
            ["secureId": 7], ["secureId": ["a": secureID]], ["secureId": [secureID]], ["secureId": NSNull()],
            ["secureId": ""], ["secureId": String(repeating: "x", count: 1 << 20)],
            ["secureId": "\(secureID)/../../token"], ["secureId": "\(secureID)\u{0}"],
            ["secureId": "\u{202e}\(secureID)"], ["secureId": "https://evil.example/\(secureID)"],
            ["secureId": secureID], ["secureId": secureID, "sig": forged],
            ["secureId": secureID, "ts": "1", "sig": forged],
            ["secureId": secureID, "ts": "-9223372036854775808", "sig": forged],
            ["secureId": secureID, "ts": "99999999999999999999999999", "sig": forged],
            ["secureId": secureID, "ts": 1_763_800_000, "sig": forged],
            ["secureId": secureID, "ts": "1763801000", "sig": "====", "host": "evil.example"],
            ["secureId": secureID, "ts": "1763801000", "sig": forged, "url": "https://evil.example/api"],
            ["secureId": secureID, "withdraw": "1", "ts": "1763801000", "sig": forged],
            ["secureId": secureID, "withdraw": true], ["secureId": secureID, "withdraw": ["1"]],
        ]
        let raws = [
            "", " ", "\(secureID) withdraw", "\(secureID) 1763801000 \(forged)", "\(secureID) a b c d e",
            String(repeating: "\(secureID) ", count: 1_000), "\u{0}\u{1b}[2J",
        ]
        let texts = ["", "[", "[]", "null", "{\"secureId\":{}}", "{\"secureId\":\"\(secureID)\",\"secureId\":1}"]
        return objects.map { IncomingPush(userInfo: $0) } + raws.map { IncomingPush(raw: $0) }
            + texts.map { IncomingPush(json: Data($0.utf8)) }
            + [IncomingPush(json: Data(repeating: UInt8(ascii: "["), count: 100_000))]
    }
}
