import Domain
import Foundations

/// Signed pushes, forgeries, old ones, withdrawals and rotated keys.
enum SignatureVectors {
    private struct Push {
        var id = VectorKeys.pushed
        var timestamp: String?
        var signature: String?
        var withdraw = false

        var json: JSONLiteral {
            [
                "id": JSONLiteral(id), "timestamp": JSONLiteral(timestamp), "signature": JSONLiteral(signature),
                "withdraw": JSONLiteral(withdraw),
            ]
        }
    }

    static func cases() throws -> [VectorCase] {
        try genuine() + ages() + forgeries() + malformed() + keySets()
    }

    private static func push(
        _ id: String = VectorKeys.pushed, user: String = VectorKeys.user, withdraw: Bool = false,
        with seed: String = VectorKeys.current
    ) throws -> Push {
        let signature = try VectorKeys.sign(id, user: user, withdraw: withdraw, with: seed)
        return Push(
            id: id, timestamp: String(signature.timestamp), signature: signature.signature, withdraw: withdraw)
    }

    private static func `case`(
        _ name: String, _ push: Push, user: String = VectorKeys.user, keys: JSONLiteral? = nil,
        learned: JSONLiteral? = nil, after milliseconds: Int = 0, _ reason: String? = nil
    ) throws -> VectorCase {
        let end = push.withdraw ? "withdraw\n" : ""
        let text = "securepush-push-v1\n\(push.id)\n\(user)\n\(push.timestamp ?? "")\n\(end)"
        return VectorCase(
            name,
            [
                "keys": try keys ?? VectorKeys.jwks([VectorKeys.current]), "learnedKeys": learned ?? nil,
                "user": JSONLiteral(user), "nowMs": JSONLiteral(VectorKeys.date + milliseconds), "push": push.json,
                "signedText": JSONLiteral(text), "expect": expectation(reason),
            ])
    }

    private static func expectation(_ reason: String?) -> JSONLiteral {
        guard let reason else { return ["accepted": true] }
        return ["accepted": false, "reason": JSONLiteral(reason)]
    }

    private static func genuine() throws -> [VectorCase] {
        var cases = [
            try Self.case("genuine", push()),
            try Self.case("genuine withdrawal", push(withdraw: true)),
        ]
        for name in ["Ünïcödé 🔑", "e\u{301}", "a b", "#", "username:alice", String(repeating: "x", count: 1_024)] {
            cases.append(
                try Self.case("genuine for \(name.prefix(20).debugDescription)", push(user: name), user: name))
        }
        return cases
    }

    private static func ages() throws -> [VectorCase] {
        let limit = 28 * 86_400_000
        return [
            try Self.case("28 days old", push(), after: limit),
            try Self.case("28 days and a second old", push(), after: limit + 1_000, "SP-AGE"),
            try Self.case("a year old", push(), after: 365 * 86_400_000, "SP-AGE"),
            try Self.case("from the future", push(), after: -86_400_000),
            try Self.case("a withdrawal of 29 days", push(withdraw: true), after: limit + 86_400_000, "SP-AGE"),
            try Self.case("old and forged", push(with: VectorKeys.stranger), after: 2 * limit, "SP-SIGNATURE"),
        ]
    }

    private static func forgeries() throws -> [VectorCase] {
        let reason = "SP-SIGNATURE"
        var (otherID, later, noLongerWithdrawn, nowWithdrawn) = (
            try push(), try push(), try push(withdraw: true), try push()
        )
        otherID.id = VectorKeys.third
        later.timestamp = "1800000001"
        noLongerWithdrawn.withdraw = false
        nowWithdrawn.withdraw = true
        var cases = [
            try Self.case("another key", push(with: VectorKeys.stranger), reason),
            try Self.case("another ID", otherID, reason),
            try Self.case("another time", later, reason),
            try Self.case("another user", push(user: "bob"), reason),
            try Self.case("another case of the user", push(user: "Alice"), reason),
            try Self.case("another form of the user (NFC)", push(user: "\u{e9}"), user: "e\u{301}", reason),
            try Self.case("a withdrawal without its word", noLongerWithdrawn, reason),
            try Self.case("a push made a withdrawal", nowWithdrawn, reason),
        ]
        for bit in [0, 7, 255, 256, 510] {
            var bent = try push()
            var bytes = Base64.decode(bent.signature ?? "", .url) ?? []
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            bent.signature = Base64.encode(bytes, .url)
            cases.append(try Self.case("bit \(bit) of the signature changed", bent, reason))
        }
        return cases + [try malleable()]
    }

    /// The same signature with s + L in place of s, which RFC 8032 (section 5.1.7) refuses.
    private static func malleable() throws -> VectorCase {
        let order = VectorKeys.bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var other = try push()
        var bytes = Base64.decode(other.signature ?? "", .url) ?? []
        var carry = 0
        for index in 0..<32 {
            let sum = Int(bytes[32 + index]) + Int(order[index]) + carry
            bytes[32 + index] = UInt8(sum & 0xFF)
            carry = sum >> 8
        }
        other.signature = Base64.encode(bytes, .url)
        return try Self.case("s beyond the order of the group", other, "SP-SIGNATURE")
    }

    private static func malformed() throws -> [VectorCase] {
        let good = try push()
        let signature = good.signature ?? ""
        var cases: [VectorCase] = []
        let times: [(String, String?)] = [
            ("no", nil), ("an empty", ""), ("a zero before the", "01800000000"), ("a plus before the", "+1800000000"),
            ("a minus before the", "-1800000000"), ("a blank after the", "1800000000 "),
            ("a line feed after the", "1800000000\n"), ("an exponent in the", "18e8"),
            ("a fraction in the", "1800000000.0"),
            ("13 digits in the", "1800000000000"), ("other digits in the", "\u{661}\u{668}"),
        ]
        for (name, text) in times {
            var push = good
            push.timestamp = text
            cases.append(try Self.case("\(name) time", push, "SP-SIGNATURE"))
        }
        // The last character has two unused bits, so another one would decode to the same bytes.
        let signatures: [(String, String?)] = [
            ("no", nil), ("an empty", ""), ("a short", String(signature.dropLast(2))), ("a long", signature + "AA"),
            ("a padded", signature + "=="), ("a blank in the", "A " + signature.dropFirst(2)),
            ("a line feed after the", signature + "\n"), ("unused bits in the", try withUnusedBits(signature)),
            ("the standard alphabet in the", "+/" + signature.dropFirst(2)),
        ]
        for (name, text) in signatures {
            var push = good
            push.signature = text
            cases.append(try Self.case("\(name) signature", push, "SP-SIGNATURE"))
        }
        return cases
    }

    private static func withUnusedBits(_ signature: String) throws -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        guard let last = signature.last, let index = alphabet.firstIndex(of: last), index % 16 == 0 else {
            throw VectorKeys.Unusable()
        }
        return signature.dropLast() + String(alphabet[index + 1])
    }

    private static func keySets() throws -> [VectorCase] {
        let both = try VectorKeys.jwks([VectorKeys.current, VectorKeys.former])
        let former = try VectorKeys.jwks([VectorKeys.former])
        let current = try VectorKeys.jwks([VectorKeys.current])
        let x = current.value["keys"]?.elements?.first?["x"]?.text ?? ""
        let mixed: JSONLiteral = [
            "keys": [
                ["kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"], ["kty": "RSA", "n": "AAAA", "e": "AQAB"],
                ["kty": "OKP", "crv": "X25519", "x": JSONLiteral(x)], ["kty": "OKP", "crv": "Ed25519", "x": "AAAA"],
                ["kty": "OKP", "crv": "Ed25519", "x": JSONLiteral(x + "=")], ["kty": "OKP", "crv": "Ed25519"],
                ["kty": "OKP", "crv": "Ed25519", "x": JSONLiteral(x), "future": [1, 2]],
            ], "future": true,
        ]
        let foreign: JSONLiteral = ["keys": [["kty": "OKP", "crv": "X25519", "x": JSONLiteral(x)]]]
        let old = try push(with: VectorKeys.former)
        return try [
            try Self.case("rotated: the new key", push(), keys: both),
            try Self.case("rotated: the former key", old, keys: both),
            try Self.case("rotated: the key is learned", push(), keys: former, learned: current),
            try Self.case(
                "rotated: the configured key is no longer among them", old, keys: former, learned: current,
                "SP-SIGNATURE"),
            try Self.case("rotated: both are learned", old, keys: former, learned: both),
            try Self.case("rotated: the key is not learned yet", push(), keys: former, "SP-SIGNATURE"),
            try Self.case(
                "rotated: neither key", push(with: VectorKeys.stranger), keys: former, learned: current,
                "SP-SIGNATURE"),
            try Self.case(
                "rotated: old, by a learned key", push(), keys: former, learned: current, after: 29 * 86_400_000,
                "SP-AGE"),
            try Self.case("a key among keys of other kinds", push(), keys: mixed),
            try Self.case("no key of this kind", push(), keys: foreign, "SP-SIGNATURE"),
            try Self.case("no key", push(), keys: ["keys": []], "SP-SIGNATURE"),
        ] + unusable() + many()
    }

    /// Sets that cannot be used: as configured ones they refuse everything, and learned ones are not taken.
    private static func unusable() throws -> [VectorCase] {
        let current = try VectorKeys.jwks([VectorKeys.current])
        return try unusableSets().flatMap { name, set in
            [
                try Self.case("configured: \(name)", push(), keys: set, "SP-SIGNATURE"),
                try Self.case("learned: \(name)", push(), keys: current, learned: set),
                try Self.case(
                    "learned: \(name), and a stranger signs", push(with: VectorKeys.stranger), keys: current,
                    learned: set, "SP-SIGNATURE"),
            ]
        }
    }

    /// With the key of a stranger, who would be believed otherwise, beside the current one.
    static func unusableSets() throws -> [(String, JSONLiteral)] {
        func set(_ name: String, _ value: String) throws -> JSONLiteral {
            let keys = try VectorKeys.jwks([VectorKeys.current, VectorKeys.stranger]).value["keys"]?.elements ?? []
            let members = (keys.last?.members ?? []) + [.init(name, .string(value))]
            return ["keys": JSONLiteral([JSONLiteral(keys[0]), JSONLiteral(.object(members))])]
        }
        let x = try VectorKeys.x(VectorKeys.stranger)
        return [
            ("an empty set", ["keys": []]),
            ("only keys of other kinds", ["keys": [["kty": "OKP", "crv": "X25519", "x": JSONLiteral(x)]]]),
            ("a private key", try set("d", Base64.encode(VectorKeys.bytes(VectorKeys.stranger), .url))),
            ("an empty private key", try set("d", "")), ("a symmetric key", try set("k", "AAAA")),
        ]
    }

    /// The server publishes at most 32 keys.
    private static func many() throws -> [VectorCase] {
        let sets = try [17, 32, 33].map { count in
            (count, try VectorKeys.jwks(VectorKeys.others(count - 1) + [VectorKeys.current]))
        }
        let former = try VectorKeys.jwks([VectorKeys.former])
        return try sets.flatMap { count, set in
            let reason = count > 32 ? "SP-SIGNATURE" : nil
            return [
                try Self.case("the last of \(count) keys", push(), keys: set, reason),
                try Self.case("the last of \(count) learned keys", push(), keys: former, learned: set, reason),
            ]
        }
    }
}
