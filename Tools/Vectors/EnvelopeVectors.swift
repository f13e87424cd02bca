import Foundation
import Foundations
@_spi(TestVectors) import SecurePushEnvelope

/// End-to-end encrypted payloads.
enum EnvelopeVectors {
    private static let phone = "8d0e5f5a-0c4e-4a57-9a5e-1f4c5d9f1a01"
    private static let tablet = "8d0e5f5a-0c4e-4a57-9a5e-1f4c5d9f1a02"
    private static let later = "8d0e5f5a-0c4e-4a57-9a5e-1f4c5d9f1a03"

    /// Who opens what.
    private struct Opening {
        var recipient = VectorKeys.user
        var device = phone
        var key: EnvelopePrivateKey?
        var payload: String
        var sealing: JSONLiteral = nil
    }

    static func cases() throws -> [VectorCase] { try opened() + refused() + changed() + malformed() }

    /// 32 bytes, different for each number.
    private static func bytes(_ number: UInt8, _ count: Int = 32) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: Int(number) &* 37 &+ $0 &* 11 &+ 1) })
    }

    private static func key(_ number: UInt8) throws -> EnvelopePrivateKey {
        try EnvelopePrivateKey(rawRepresentation: bytes(number))
    }

    private static func jwk(_ key: EnvelopePrivateKey) -> JSONLiteral {
        [
            "kty": "OKP", "crv": "X25519", "x": JSONLiteral(Base64.encode(key.publicKey.rawRepresentation, .url)),
            "d": JSONLiteral(Base64.encode(key.rawRepresentation, .url)),
        ]
    }

    private static func seal(
        _ content: String, for recipient: String = VectorKeys.user, to devices: [String] = [phone]
    ) throws -> Opening {
        let numbers = [phone: UInt8(1), tablet: 2, later: 3]
        var (keys, ephemeral, documents) = (
            [String: EnvelopeKey](), [String: EnvelopePrivateKey](), [JSONValue.Member]()
        )
        for device in devices {
            let number = numbers[device] ?? 9
            keys[device] = try key(number).publicKey
            ephemeral[device] = try key(number + 100)
            documents.append(.init(device, jwk(try key(number + 100)).value))
        }
        let randomness = EnvelopeRandomness(contentKey: bytes(50), iv: bytes(60, 12), ephemeralKeys: ephemeral)
        let payload = try Envelope.seal(Data(content.utf8), for: recipient, devices: keys, with: randomness)
        let sealing: JSONLiteral = [
            "contentKey": JSONLiteral(Base64.encode(bytes(50), .url)),
            "iv": JSONLiteral(Base64.encode(bytes(60, 12), .url)), "ephemeralKeys": JSONLiteral(.object(documents)),
        ]
        return Opening(recipient: recipient, key: try key(1), payload: payload, sealing: sealing)
    }

    private static func `case`(_ name: String, _ opening: Opening, _ expect: JSONLiteral) -> VectorCase {
        VectorCase(
            name,
            [
                "recipient": JSONLiteral(opening.recipient), "device": JSONLiteral(opening.device),
                "privateKey": opening.key.map { jwk($0) } ?? nil, "payload": JSONLiteral(opening.payload),
                "sealing": opening.sealing, "expect": expect,
            ])
    }

    private static func content(_ json: String, isEncrypted: Bool = true) -> JSONLiteral {
        [
            "opened": true, "encrypted": JSONLiteral(isEncrypted), "content": JSONLiteral(json),
            "text": JSONLiteral(JSONValue(text: json)?.text ?? json),
        ]
    }

    private static func refusal(_ reason: String) -> JSONLiteral { ["opened": false, "reason": JSONLiteral(reason)] }

    private static func opened() throws -> [VectorCase] {
        let contents = [
            ("a text", #""The code is 4711.""#), ("an empty text", #""""#),
            ("an object", #"{"code":4711,"to":["a","b"]}"#),
            ("a number", "42"), ("null", "null"), ("true", "true"), ("escapes", #""a\n\"b\" \u00e9 \ud83d\udd11""#),
            ("other scripts", #""Grüße 🔑 日本語""#),
            ("10,000 bytes", "\"" + String(repeating: "secret ", count: 1_428) + "\""),
        ]
        var cases = try contents.map { name, json in Self.case(name, try seal(json), content(json)) }
        let three = try seal(#""for three""#, to: [phone, tablet, later])
        cases.append(Self.case("three devices: the first", three, content(#""for three""#)))
        var second = three
        (second.device, second.key) = (tablet, try key(2))
        cases.append(Self.case("three devices: the second", second, content(#""for three""#)))
        for name in ["Ünïcödé 🔑", "e\u{301}", "a b"] {
            cases.append(
                Self.case("recipient \(name.debugDescription)", try seal(#""x""#, for: name), content(#""x""#)))
        }
        for (name, json) in [
            ("a plain text", #""plain""#), ("a plain object", #"{"a":1}"#), ("an object with e2e alone", #"{"e2e":1}"#),
            ("an object with ct alone", #"{"ct":"AAAA"}"#), ("plain null", "null"),
        ] {
            let opening = Opening(key: try key(1), payload: json)
            cases.append(Self.case(name, opening, content(json, isEncrypted: false)))
        }
        return cases
    }

    private static func refused() throws -> [VectorCase] {
        let good = try seal(#""secret""#)
        var (stranger, unknown, keyless, bob, composed, upper) = (
            good, good, good, good, try seal("1", for: "\u{e9}"), good
        )
        (stranger.key, unknown.device, keyless.key) = (try key(7), later, nil)
        (bob.recipient, composed.recipient) = ("bob", "e\u{301}")
        upper.device = phone.uppercased()
        var other = try seal(#""secret""#, to: [tablet, later])
        other.key = try key(1)
        return [
            Self.case("device not among the keys", other, refusal("SP-KEY")),
            Self.case("another installation with the key", unknown, refusal("SP-KEY")),
            Self.case("the ID in another case", upper, refusal("SP-KEY")),
            Self.case("a device without a key", keyless, refusal("SP-KEY")),
            Self.case("wrong key", stranger, refusal("SP-DECRYPT")),
            Self.case("wrong recipient", bob, refusal("SP-DECRYPT")),
            Self.case("another form of the recipient (NFC)", composed, refusal("SP-DECRYPT")),
        ]
    }

    /// One value of the envelope, replaced.
    private static func replace(_ path: [String], in payload: String, _ change: (String) -> JSONValue) -> String {
        func walk(_ value: JSONValue, _ path: ArraySlice<String>) -> JSONValue {
            guard let name = path.first else { return change(value.text ?? "") }
            return .object(
                (value.members ?? []).map { member in
                    member.name == name ? .init(name, walk(member.value, path.dropFirst())) : member
                })
        }
        return JSONValue(text: payload).map { walk($0, path[...]).json } ?? payload
    }

    private static func bend(_ text: String, at index: Int) -> JSONValue {
        var bytes = Base64.decode(text, .url) ?? []
        bytes[index < 0 ? bytes.count + index : index] ^= 1
        return .string(Base64.encode(bytes, .url))
    }

    private static let paths: [(String, [String])] = [
        ("the sealed key", ["keys", phone, "ct"]), ("the ephemeral key", ["keys", phone, "enc"]), ("iv", ["iv"]),
        ("ct", ["ct"]),
    ]

    private static func changed() throws -> [VectorCase] {
        let good = try seal(#""secret""#, to: [phone, tablet])
        var cases: [VectorCase] = []
        for (name, path) in paths {
            for (place, index) in [("first", 0), ("last", -1)] {
                var opening = good
                opening.sealing = nil
                opening.payload = replace(path, in: good.payload) { bend($0, at: index) }
                cases.append(Self.case("the \(place) byte of \(name) changed", opening, refusal("SP-DECRYPT")))
            }
        }
        var swapped = good
        swapped.sealing = nil
        let second = JSONValue(text: good.payload)?["keys"]?[tablet]?.json ?? ""
        swapped.payload = replace(["keys", phone], in: good.payload) { _ in JSONValue(text: second) ?? .null }
        cases.append(Self.case("the entry of another device", swapped, refusal("SP-DECRYPT")))
        return cases
    }

    private static func malformed() throws -> [VectorCase] {
        let good = try seal(#""secret""#)
        var cases: [VectorCase] = []
        func add(_ name: String, _ payload: String, _ reason: String = "SP-DECRYPT") {
            var opening = good
            (opening.sealing, opening.payload) = (nil, payload)
            cases.append(Self.case(name, opening, refusal(reason)))
        }
        for (name, path) in paths {
            add("padding in \(name)", replace(path, in: good.payload) { .string($0 + "=") })
            add("\(name) empty", replace(path, in: good.payload) { _ in .string("") })
            add("\(name) too short", replace(path, in: good.payload) { .string(String($0.prefix(8))) })
            add("\(name) is a number", replace(path, in: good.payload) { _ in .number("7") })
            add("\(name) is null", replace(path, in: good.payload) { _ in .null })
        }
        for value in ["2", "0", "-1", "\"1\"", "true", "null", "[1]", "1.5"] {
            add("e2e is \(value)", replace(["e2e"], in: good.payload) { _ in JSONValue(text: value) ?? .null })
        }
        for value in ["[]", "null", "\"x\"", "7"] {
            add("keys is \(value)", replace(["keys"], in: good.payload) { _ in JSONValue(text: value) ?? .null })
        }
        add("no device at all", replace(["keys"], in: good.payload) { _ in .object([]) }, "SP-KEY")
        add("the device's entry is a text", replace(["keys", phone], in: good.payload) { _ in .string("x") })
        add(
            "an ephemeral key of low order",
            replace(paths[1].1, in: good.payload) { _ in
                .string(String(repeating: "A", count: 43))
            })
        for (name, text) in [("not JSON", "secret"), ("half a text", "\"secret"), ("empty", ""), ("two values", "1 2")]
        {
            var opening = try seal(text)
            opening.sealing = nil
            cases.append(Self.case("the content is \(name)", opening, refusal("SP-DECRYPT")))
        }
        return cases
    }
}
