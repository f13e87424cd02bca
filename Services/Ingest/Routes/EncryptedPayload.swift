import Domain
import Foundations

/// The form of a payload that is encrypted end to end, as `RECIPIENT_E2E_REQUIRED` requires it:
/// `{"e2e":1,"keys":{"DEVICE":{"enc","ct"}},"iv","ct"}`.
///
/// Only the form is checked, because only the devices can decrypt the content. Other members are refused, because they
/// would be readable. Without the setting, payloads are not checked.
enum EncryptedPayload {
    /// The defect of a payload; `nil` if it has the form. The text has no part of the payload.
    static func issue(in payload: [UInt8]) -> String? {
        guard let document = try? JSONValue(strict: payload, maxDepth: 4, maxMembers: Installation.maxPerUser),
            let members = document.members
        else { return form }
        guard Set(members.map(\.name)) == ["e2e", "keys", "iv", "ct"] else { return form }
        guard case .number("1")? = document["e2e"] else { return "`e2e` must be 1. \(form)" }
        guard bytes(of: document["iv"]) == Length.iv else { return "`iv` must be 12 bytes in base64url. \(form)" }
        guard let content = bytes(of: document["ct"]), content >= Length.tag else {
            return "`ct` must be at least 16 bytes in base64url. \(form)"
        }
        guard let keys = document["keys"]?.members, !keys.isEmpty else {
            return "`keys` must have at least one device. \(form)"
        }
        return keys.allSatisfy(isWrappedKey) ? nil : "An entry of `keys` is not the key of a device. \(form)"
    }

    /// For the tutorial's "Send push", whose text this service makes itself.
    static let confirmationIssue =
        "This service accepts only payloads that are encrypted end to end, so it sends no confirmation of its own."

    private static let form =
        "This service accepts only payloads that are encrypted end to end: an object with exactly `e2e`, `keys`, `iv` "
        + "and `ct`."

    /// In bytes.
    private enum Length {
        static let iv = 12
        /// Of AES-GCM, at the end of each ciphertext.
        static let tag = 16
        /// The key of HPKE's encapsulation.
        static let encapsulated = 32
        /// The content key and its tag.
        static let wrappedKey = 32 + tag
    }

    private static func isWrappedKey(_ member: JSONValue.Member) -> Bool {
        guard DeviceID.isValid(member.name), let parts = member.value.members,
            Set(parts.map(\.name)) == ["enc", "ct"]
        else { return false }
        return bytes(of: member.value["enc"]) == Length.encapsulated
            && bytes(of: member.value["ct"]) == Length.wrappedKey
    }

    /// The number of bytes of a value in base64url.
    private static func bytes(of value: JSONValue?) -> Int? {
        value?.text.flatMap { Base64.decode($0, .url) }?.count
    }
}
