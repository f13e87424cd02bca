import Domain
import Foundations

/// The fixed values of the vectors.
enum VectorKeys {
    /// The user of the device.
    static let user = "alice"
    /// When scenarios begin, in milliseconds since 1970.
    static let date = 1_800_000_000_000

    /// An older notification, whose push was lost.
    static let missed = "019aa4a2-1c9b-7000-8000-000000000001"
    /// The notification of the push.
    static let pushed = "019aa4a2-1c9b-7000-8000-000000000002"

    struct Unusable: Error {}
}

/// What the dispatcher adds to the push of ``VectorKeys/pushed`` and to its withdrawal. The signatures are those of
/// signatures.json, because an ECDSA signature that is made here would be another one each time.
struct VectorSignatures: Sendable {
    let push: PushSignature
    let withdrawal: PushSignature

    /// - Throws: ``VectorKeys/Unusable`` unless the dispatcher's code verifies both.
    init(_ file: VectorFile) throws {
        let cases = file.lists.first?.cases.map(\.json.value) ?? []
        push = try Self.genuine("genuine", in: cases)
        withdrawal = try Self.genuine("genuine withdrawal", in: cases)
    }

    private static func genuine(_ name: String, in cases: [JSONValue]) throws -> PushSignature {
        guard let vector = cases.first(where: { $0["name"]?.text == name }), let push = vector["push"],
            let timestamp = push["timestamp"]?.text.flatMap({ Int64($0) }), let text = push["signature"]?.text,
            let user = vector["user"]?.text.flatMap({ UserName($0) }), let id = NotificationID(VectorKeys.pushed),
            push["id"]?.text == VectorKeys.pushed, let set = vector["keys"]
        else { throw VectorKeys.Unusable() }
        let signature = PushSignature(timestamp: timestamp, signature: text)
        let keys = try PushVerificationKeys(jwks: set.json).keys
        let isWithdrawal = push["withdraw"]?.boolean == true
        guard keys.contains(where: { $0.isValid(signature, of: id, recipient: user, withdraw: isWithdrawal) }) else {
            throw VectorKeys.Unusable()
        }
        return signature
    }
}
