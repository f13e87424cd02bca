import Crypto
import SecurePushCore

/// A collapse key as a header value (`apns-collapse-id`, `X-WNS-Tag`): visible ASCII, at most 64 bytes.
///
/// Visible ASCII other than `%` stands as it is; every other byte, CR and LF among them, is percent-encoded, so that
/// different keys stay different. APNs takes at most 64 bytes: what gets longer is the SHA-256 in hex, which is 64.
enum CollapseKey {
    static func headerValue(_ key: String) -> String {
        var bytes: [UInt8] = []
        for byte in key.utf8 {
            if (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(contentsOf: CollectionOfOne(byte).hex.utf8)
            }
        }
        if bytes.count > 64 { return SHA256.hash(data: Array(key.utf8)).hex }
        return String(decoding: bytes, as: UTF8.self)
    }
}
