import Foundations

/// The tags that a client may give its devices.
enum ClientTag {
    /// The hub's limit per device, including the user's own tag.
    static let maxCount = 60
    private static let maxLength = 120

    /// The error in a client's tag, or `nil`. Clients must not set the user's own tag, and tags that begin with
    /// `$` belong to the hub. The grammar is the hub's (Azure: "Routing and tag expressions").
    static func issue(_ tag: String) -> String? {
        let allowed = tag.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_@#.:-".utf8.contains(byte)
            }
        }
        if tag.utf8.first == UInt8(ascii: "$") { return "The tag is reserved." }
        guard (1...maxLength).contains(tag.utf8.count), allowed else {
            return "A tag must be 1 to 120 of the characters A-Z a-z 0-9 _ @ # . : -"
        }
        // The tag is ASCII here, so lower case does not depend on a language.
        if tag.lowercased().hasPrefix("username:") { return "The tag is reserved." }
        return nil
    }
}

/// Reads the lists of tags of one device and counts all of them, because the hub's limit applies to a device, not to a
/// list.
final class ClientTags {
    private var count = 0

    var rule: JSONRule<[String]> {
        JSONRule { json in
            guard let more = json.count() else { return nil }
            let before = self.count
            self.count += more
            guard self.count < ClientTag.maxCount else {
                // Noted once, at the list that exceeds the limit.
                if before < ClientTag.maxCount {
                    json.note("A device may have at most 60 tags in total, including the user's own tag.")
                }
                return nil
            }
            var tags: [String] = []
            json.elements { if let tag = $0.read(.text(ClientTag.issue)) { tags.append(tag) } }
            return tags
        }
    }
}

extension JSONRule<String> {
    /// A part of a push channel.
    static var handle: JSONRule { .text(DeviceHandle.issue) }
}

/// The vendor's address of a device: an APNs token, an FCM registration token, a WNS channel URI.
enum DeviceHandle {
    /// Far above the longest channel URI of any vendor.
    private static let maxLength = 4096

    static let requirement = "A handle must be 1 to 4,096 bytes without control characters, U+FFFE or U+FFFF."

    /// The error in a handle, or `nil`. The hub stores it in XML, which cannot contain U+FFFE and U+FFFF
    /// (XML 1.0, section 2.2).
    static func issue(_ handle: String) -> String? {
        let isPlain = handle.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0xFFFE && $0.value != 0xFFFF
        }
        return isPlain && (1...maxLength).contains(handle.utf8.count) ? nil : requirement
    }

    /// The spellings of one device's handle in the hub and in the store: an APNs token is hexadecimal, and upper and
    /// lower case are the same device.
    static func spellings(_ handle: String) -> [String] {
        guard handle.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }) else {
            return [handle]
        }
        return Set([handle, handle.uppercased(), handle.lowercased()]).sorted()
    }
}
