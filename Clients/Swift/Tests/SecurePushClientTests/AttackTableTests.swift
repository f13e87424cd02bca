import Foundation
import Testing

@testable import SecurePushClient
@_spi(TestVectors) @testable import SecurePushEnvelope

/// A server that forges, strips, swaps, cuts and replays, against a device with `senderKeys` and `requiresEncryption`. It
/// prints a table: each attack, the expected code, the code that the user saw, and how many forged texts.
@Suite(.timeLimit(.minutes(10))) struct AttackTableTests {
    /// What the server has: two genuine envelopes of the sender for the phone and a sibling device, what is public, and
    /// its own keys. `contentKey` is what the sibling knows.
    private struct Loot {
        var first: [String: Any]
        var second: [String: Any]
        var forBob: [String: Any]
        var ownUnsigned: String
        var ownSigned: String
        var device: String
        var sibling: String
        var contentKey: Data
        var old: String
        var early: String
        var expired: String

        /// The first envelope with one change.
        func changed(_ change: (inout [String: Any]) -> Void) -> String {
            var envelope = first
            change(&envelope)
            return AttackTableTests.text(envelope)
        }
    }

    private struct Attack {
        var name: String
        var code: String?
        /// The payloads, one notification each. The last is judged.
        var payloads: (Loot) throws -> [String]
        /// The texts that the sender has written, and that may be shown.
        var genuine: [String: String] = [:]

        init(_ name: String, _ code: String?, _ payload: @escaping (Loot) throws -> String) {
            (self.name, self.code, payloads) = (name, code, { [try payload($0)] })
        }

        /// The same envelope under two notifications.
        static func replay(_ name: String, _ code: String?) -> Attack {
            var attack = Attack(name, code) { text($0.first) }
            attack.payloads = { [text($0.first), text($0.first)] }
            attack.genuine = ["00": "genuine"]
            return attack
        }
    }

    private static var attacks: [Attack] {
        [
            Attack("forge: plain text", "SP-PLAIN") { _ in #""forged""# },
            Attack("forge: plain message", "SP-PLAIN") { _ in #"{"Title":"Bank","Body":"forged"}"# },
            Attack("forge: an envelope of the server", "SP-SENDER") { $0.ownUnsigned },
            Attack("forge: signed by the server under the sender's name", "SP-SENDER") { $0.ownSigned },
            Attack("forge: the sender's signature on an envelope of the server", "SP-SENDER") { loot in
                var envelope = try object(loot.ownUnsigned)
                for name in ["from", "sig"] { envelope[name] = loot.first[name] }
                return text(envelope)
            },
            Attack("downgrade: version 1", "SP-DECRYPT") { $0.changed { $0["e2e"] = 1 } },
            Attack("downgrade: version 2.0", "SP-DECRYPT") {
                text($0.first).replacingOccurrences(of: #""e2e":2"#, with: #""e2e":2.0"#)
            },
            Attack("downgrade: e2e renamed", "SP-PLAIN") { loot in
                loot.changed { $0["E2E"] = $0.removeValue(forKey: "e2e") }
            },
            Attack("hide: within an array", "SP-PLAIN") { "[\(text($0.first))]" },
            Attack("hide: a second ct", "SP-DECRYPT") {
                #"{"ct":"AAAAAAAAAAAAAAAAAAAAAA","# + text($0.first).dropFirst()
            },
            Attack("hide: a second e2e, escaped", "SP-DECRYPT") { #"{"\u00652e":1,"# + text($0.first).dropFirst() },
            Attack("strip: from and sig", "SP-SENDER") { loot in
                loot.changed { for name in ["from", "sig"] { $0[name] = nil } }
            },
            Attack("strip: sig", "SP-DECRYPT") { $0.changed { $0["sig"] = nil } },
            Attack("strip: from", "SP-DECRYPT") { $0.changed { $0["from"] = nil } },
            Attack("strip: the device's key", "SP-KEY") { loot in
                loot.changed { envelope in
                    var keys = envelope["keys"] as? [String: Any]
                    keys?[loot.device] = nil
                    envelope["keys"] = keys
                }
            },
            Attack("strip: all keys", "SP-DECRYPT") { $0.changed { $0["keys"] = [String: Any]() } },
            Attack("swap: ct of another envelope", "SP-SENDER") { loot in
                loot.changed { $0["ct"] = loot.second["ct"] }
            },
            Attack("swap: all but the keys of another envelope", "SP-DECRYPT") { loot in
                loot.changed { for name in ["iv", "ct", "sig"] { $0[name] = loot.second[name] } }
            },
            Attack("swap: the keys of another envelope", "SP-DECRYPT") { loot in
                loot.changed { $0["keys"] = loot.second["keys"] }
            },
            Attack("swap: the entry of a sibling device", "SP-DECRYPT") { loot in
                loot.changed { envelope in
                    var keys = envelope["keys"] as? [String: Any]
                    let entry = keys?[loot.sibling]
                    keys?[loot.device] = entry
                    envelope["keys"] = keys
                }
            },
            Attack("swap: other content by a sibling device", "SP-SENDER") { loot in
                loot.changed { $0["ct"] = try? sealed("forged", with: loot.contentKey, iv: $0["iv"]) }
            },
            Attack("swap: an envelope for another user", "SP-SENDER") { text($0.forBob) },
            Attack("truncate: ct by a block", "SP-SENDER") { $0.changed { $0["ct"] = shorter($0["ct"], by: 16) } },
            Attack("truncate: ct to 15 bytes", "SP-DECRYPT") { $0.changed { $0["ct"] = "AAAAAAAAAAAAAAAAAAAA" } },
            Attack("truncate: sig", "SP-DECRYPT") { $0.changed { $0["sig"] = shorter($0["sig"], by: 1) } },
            Attack("truncate: the device's sealed key", "SP-DECRYPT") { loot in
                loot.changed { envelope in
                    var keys = envelope["keys"] as? [String: [String: Any]]
                    let cut = shorter(keys?[loot.device]?["ct"], by: 1)
                    keys?[loot.device]?["ct"] = cut
                    envelope["keys"] = keys
                }
            },
            .replay("replay: under another ID", "SP-REPLAY"),
            Attack("replay: after 90 days", "SP-REPLAY") { $0.old },
            Attack("replay: prepared for later", "SP-REPLAY") { $0.early },
            Attack("hold back: until it has expired", "SP-EXPIRED") { $0.expired },
        ]
    }

    @Test func aServerThatAttacksShowsNothing() async throws {
        var lines = ["attack | expected | result | forged texts shown"]
        for attack in Self.attacks {
            let sender = SenderKey()
            let senders = try SenderKeys(jwkSet: Data(sender.jwkSet.utf8))
            let phone = try await SimulatedPhone { configuration in
                configuration.encryptsEndToEnd = true
                configuration.senderKeys = senders
                configuration.requiresEncryption = true
            }
            try await phone.client.register(PushDevice(platform: .apns, channel: "AB"))
            let loot = try await Self.loot(of: phone, sender)
            let payloads = try attack.payloads(loot)
            for (number, payload) in payloads.enumerated() {
                phone.server.add("0\(number)", payload)
                _ = await phone.push("0\(number)")
            }
            let last = "0\(payloads.count - 1)"
            let code = await phone.screen.notices[last]?.code?.rawValue
            let forged = await phone.screen.secrets.filter { attack.genuine[$0.key] != $0.value }
            lines.append("\(attack.name) | \(attack.code ?? "") | \(code ?? "none") | \(forged.count)")
            #expect(code == attack.code, "\(attack.name)")
            #expect(forged.isEmpty, "\(attack.name): \(forged)")
            for (id, text) in attack.genuine { #expect(await phone.screen.secrets[id] == text, "\(attack.name)") }
        }
        print(lines.joined(separator: "\n"))
        print("\(Self.attacks.count) attacks")
    }

    // MARK: The server's hands

    private static func loot(of phone: SimulatedPhone, _ sender: SenderKey) async throws -> Loot {
        let own = try await phone.registeredKey()
        let device = try #require(own.keys.first)
        let devices = own.merging(["sibling": EnvelopeSoftwareKey().publicKey]) { $1 }
        var honest = phone.sender
        honest.key = sender
        let thief = phone.sender
        var claiming = thief
        claiming.key = try SenderKey(pem: SenderKey().pem, id: sender.id)
        var randomness = EnvelopeRandomness()
        randomness.createdAt = Int(phone.clock.date.timeIntervalSince1970)
        let first = try Envelope.seal(
            Data(#""genuine""#.utf8), for: "alice", devices: devices, signedBy: sender, with: randomness)
        return Loot(
            first: try object(first), second: try object(honest.seal(#""other""#, to: devices)),
            forBob: try object(honest.seal(#""for bob""#, for: "bob", to: devices)),
            ownUnsigned: try thief.seal(#""forged""#, to: devices),
            ownSigned: try claiming.seal(#""forged""#, to: devices), device: device, sibling: "sibling",
            contentKey: randomness.contentKey,
            old: try honest.seal(#""old""#, to: devices, age: 7_776_001),
            early: try honest.seal(#""early""#, to: devices, age: -86_401),
            expired: try honest.seal(#""expired""#, to: devices, age: 60, expiresIn: -1))
    }

    private static func object(_ json: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    private static func text(_ envelope: [String: Any]) -> String {
        let json = try? JSONSerialization.data(
            withJSONObject: envelope, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: json ?? Data(), as: UTF8.self)
    }

    private static func shorter(_ value: Any?, by count: Int) -> String {
        let bytes = (value as? String).flatMap { Base64URL.decode($0, maxLength: 1 << 20) } ?? Data()
        return Base64URL.encode(bytes.dropLast(count))
    }

    /// Other content under a known content key and the same nonce.
    private static func sealed(_ text: String, with key: Data, iv: Any?) throws -> String {
        let nonce = (iv as? String).flatMap { Base64URL.decode($0) } ?? Data()
        let document =
            #"{"id":"\#(UUID().uuidString)","at":\#(Int(Date().timeIntervalSince1970)),"content":"\#(text)"}"#
        return Base64URL.encode(try Envelope.sealContent(Data(document.utf8), with: key, nonce: nonce, for: "alice"))
    }
}
