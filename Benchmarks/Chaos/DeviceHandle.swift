import ChaosChecker
import Foundation

/// Handles in each platform's own form: an APNs device token, an FCM registration token, a WNS channel URI.
enum DeviceHandle {
    static func make(_ platform: String, _ generator: inout SplitMix) -> String {
        let token = (0..<4).map { _ in
            let text = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        return switch platform {
        case "apple": token.uppercased()
        case "windows": "https://db5.notify.windows.com/?token=\(token)"
        default: "\(token.prefix(22)):APA91b\(token)"
        }
    }

    /// As one part of a URL (RFC 3986, section 2.3).
    static func encoded(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}
