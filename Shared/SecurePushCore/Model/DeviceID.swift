/// The IDs of installations and registrations: which texts are one, and which of them are the same one.
///
/// The hub compares them without regard to case, and its paths too, so two IDs that differ in case only are one device.
public enum DeviceID {
    /// In characters, which are bytes: an ID is ASCII.
    public static let maxLength = 128

    /// The rule, for error texts.
    public static let requirement = "An ID is 1 to 128 of A-Z a-z 0-9 - _ . and does not consist of dots only."

    /// Whether a text is an ID. `..` and the like are none: a front end could take them for steps in the hub's path
    /// (RFC 3986, section 5.2.4).
    public static func isValid(_ text: String) -> Bool {
        isValid(text, alsoAllowing: "")
    }

    /// Whether a text is an ID now, or was one before the rule of ``isValid(_:)``, when `@ # : =` were allowed too.
    /// Devices with such an ID can still be removed from the hub.
    public static func isRemovable(_ text: String) -> Bool {
        isValid(text, alsoAllowing: "@#:=")
    }

    /// The form in which IDs are compared: `A-Z` become `a-z`, other bytes stay. The two databases fold the same.
    public static func folded(_ id: String) -> String {
        let bytes = id.utf8.map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isValid(_ text: String, alsoAllowing more: String) -> Bool {
        guard (1...maxLength).contains(text.utf8.count) else { return false }
        var isDotsOnly = true
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "."): continue
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                isDotsOnly = false
            default:
                guard more.utf8.contains(byte) else { return false }
                isDotsOnly = false
            }
        }
        return !isDotsOnly
    }
}
