import Domain
import Foundations

/// The form of a payload that is encrypted end to end, as `RECIPIENT_E2E_REQUIRED` requires it:
/// `{"e2e":2,"keys":{"DEVICE":{"enc","ct"}},"iv","ct"}`, and with a signature also `"from"` and `"sig"`.
///
/// Only the form is checked, because only the devices can decrypt the content. Other members are refused, because they
/// would be readable. Without the setting, payloads are not checked.
enum EncryptedPayload {
    /// The defect of a payload; `nil` if it has the form. The text has no part of the payload.
    static func issue(in payload: [UInt8]) -> String? {
        guard let document = try? JSONValue(strict: payload, maxDepth: 4, maxMembers: Installation.maxPerUser),
            let members = document.members
        else { return form }
        guard case let names = Set(members.map(\.name)), names == required || names == required.union(["from", "sig"])
        else { return form }
        guard case .number("2")? = document["e2e"] else { return "`e2e` must be 2. \(form)" }
        guard bytes(of: document["iv"])?.count == Length.iv else {
            return "`iv` must be 12 bytes in base64url. \(form)"
        }
        guard let content = bytes(of: document["ct"]), content.count >= Length.tag else {
            return "`ct` must be at least 16 bytes in base64url. \(form)"
        }
        guard let keys = document["keys"]?.members, !keys.isEmpty else {
            return "`keys` must have at least one device. \(form)"
        }
        guard keys.allSatisfy(isWrappedKey) else { return "An entry of `keys` is not the key of a device. \(form)" }
        guard names.count > required.count else { return nil }
        guard let sender = document["from"]?.text, (1...Length.maxSender).contains(sender.utf8.count) else {
            return "`from` must be 1 to 128 bytes. \(form)"
        }
        return bytes(of: document["sig"])?.count == Length.signature
            ? nil : "`sig` must be 64 bytes in base64url. \(form)"
    }

    /// For the tutorial's "Send push", whose text this service makes itself.
    static let confirmationIssue =
        "This service accepts only payloads that are encrypted end to end, so it sends no confirmation of its own."

    private static let required: Set<String> = ["e2e", "keys", "iv", "ct"]

    private static let form =
        "This service accepts only payloads that are encrypted end to end: an object with exactly `e2e`, `keys`, `iv` "
        + "and `ct`, or with `from` and `sig` too."

    /// In bytes.
    private enum Length {
        static let iv = 12
        /// Of AES-GCM, at the end of each ciphertext.
        static let tag = 16
        /// The key of HPKE's encapsulation: an uncompressed point.
        static let encapsulated = 65
        /// The content key and its tag.
        static let wrappedKey = 32 + tag
        /// r and s.
        static let signature = 64
        static let maxSender = 128
    }

    private static func isWrappedKey(_ member: JSONValue.Member) -> Bool {
        guard DeviceID.isValid(member.name), let parts = member.value.members,
            Set(parts.map(\.name)) == ["enc", "ct"], let enc = bytes(of: member.value["enc"])
        else { return false }
        return enc.count == Length.encapsulated && enc.first == 4
            && bytes(of: member.value["ct"])?.count == Length.wrappedKey
    }

    /// A value in base64url.
    private static func bytes(of value: JSONValue?) -> [UInt8]? {
        value?.text.flatMap { Base64.decode($0, .url) }
    }
}
