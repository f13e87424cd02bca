/// What the vendors address a device by: an APNs token, an FCM registration token, a WNS channel URI.
enum DeviceHandle {
    /// The longest channel URI of the vendors is far below.
    private static let longest = 4096

    /// What a handle has to be.
    static let requirement = "A handle is 1 to 4,096 bytes without control characters, U+FFFE and U+FFFF."

    /// What is wrong with a handle, or `nil`. The hub keeps it in XML, which cannot hold U+FFFE and U+FFFF (XML 1.0,
    /// section 2.2).
    static func issue(_ handle: String) -> String? {
        let isPlain = handle.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0xFFFE && $0.value != 0xFFFF
        }
        return isPlain && (1...longest).contains(handle.utf8.count) ? nil : requirement
    }

    /// The ways in which one device's handle may stand in the hub and here: an APNs token is hexadecimal, in either
    /// case, and stays the same device's in the other.
    static func spellings(_ handle: String) -> [String] {
        guard handle.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }) else {
            return [handle]
        }
        return Set([handle, handle.uppercased(), handle.lowercased()]).sorted()
    }
}
