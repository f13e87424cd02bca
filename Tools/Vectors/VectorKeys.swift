import Domain
import Foundation
import Foundations

/// The fixed values of the vectors. The keys are public: they are in every copy of the repository.
enum VectorKeys {
    /// The user of the device.
    static let user = "alice"
    /// When scenarios begin, in milliseconds since 1970.
    static let date = 1_800_000_000_000

    /// An older notification, whose push was lost.
    static let missed = "019aa4a2-1c9b-7000-8000-000000000001"
    /// The notification of the push.
    static let pushed = "019aa4a2-1c9b-7000-8000-000000000002"
    /// Another one.
    static let third = "019aa4a2-1c9b-7000-8000-000000000003"

    /// The key that signs now (RFC 8032, section 7.1, test 1).
    static let current = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
    /// The key before it (test 2).
    static let former = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
    /// A key of nobody (test 3).
    static let stranger = "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"

    /// The bytes of hexadecimal digits.
    static func bytes(_ digits: String) -> [UInt8] {
        var (rest, bytes) = (digits[...], [UInt8]())
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// A key that signs pushes, as the dispatcher reads it.
    static func signingKey(_ seed: String) throws -> PushSigningKey {
        let encoded = Base64.encode(bytes("302e020100300506032b657004220420" + seed), .standard)
        return try PushSigningKey(pem: "-----BEGIN PRIVATE KEY-----\n\(encoded)\n-----END PRIVATE KEY-----\n")
    }

    /// A JWK Set, as `GET /api/push-keys` returns it.
    static func jwks(_ seeds: [String]) throws -> JSONLiteral {
        var keys: [JSONLiteral] = []
        for seed in seeds {
            let set = PushVerificationKeys(try signingKey(seed).publicKey)
            keys += (JSONValue(text: set.jwks)?["keys"]?.elements ?? []).map { JSONLiteral($0) }
        }
        return ["keys": JSONLiteral(keys)]
    }

    /// The member `x` of a key.
    static func x(_ seed: String) throws -> String {
        guard let x = try jwks([seed]).value["keys"]?.elements?.first?["x"]?.text else { throw Unusable() }
        return x
    }

    /// Unused keys, which fill a set.
    static func others(_ count: Int) -> [String] {
        (1...count).map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 64 - digits.count) + digits
        }
    }

    /// What the dispatcher adds to a push.
    static func sign(
        _ id: String, user: String = user, at date: Int = date, withdraw: Bool = false, with seed: String = current
    ) throws -> PushSignature {
        guard let id = NotificationID(id), let recipient = UserName(user),
            let signature = PushSigner(key: try signingKey(seed)).sign(
                id, for: recipient, withdraw: withdraw, now: Timestamp(milliseconds: Int64(date)))
        else { throw Unusable() }
        return signature
    }

    struct Unusable: Error {}
}
