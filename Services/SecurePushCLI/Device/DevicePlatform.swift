import ArgumentParser
import SecurePushCore

/// A kind of device that can be simulated, by the hub's name of its format.
enum DevicePlatform: String, CaseIterable, Sendable, ExpressibleByArgument {
    case apple
    case fcmv1
    case windows

    /// The name under which the tutorial's clients register.
    var registrationName: String {
        switch self {
        case .apple: "apns"
        case .fcmv1: "fcmv1"
        case .windows: "wns"
        }
    }

    /// A new handle in the platform's own form: an APNs device token, an FCM registration token, a WNS channel URI.
    func makeHandle() -> String {
        let token = (0..<32).map { _ in UInt8.random(in: 0...255) }
        switch self {
        case .apple: return token.hex.uppercased()
        case .fcmv1: return "\(token.prefix(11).hex):APA91b\(token.hex)"
        case .windows: return "https://db5.notify.windows.com/?token=\(token.hex)"
        }
    }
}
