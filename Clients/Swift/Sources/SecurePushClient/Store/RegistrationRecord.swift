public import Foundation

/// A device as it is registered with the retrieval service.
public struct PushDevice: Sendable, Hashable {
    /// The platform, as an installation of the hub names it.
    public enum Platform: String, Sendable, Hashable, Codable, CaseIterable {
        /// Apple.
        case apns
        /// Firebase Cloud Messaging, HTTP v1.
        case fcmv1
        /// Firebase Cloud Messaging, the legacy API.
        case gcm
        /// Windows.
        case wns
        /// Amazon.
        case adm
    }

    /// The platform.
    public var platform: Platform
    /// The push channel: APNs device token in hexadecimal, FCM registration token, or WNS channel URI. It is a secret,
    /// because it is enough to take the device over. Never log it.
    public var channel: String
    /// Tags of the app. The server adds the user's own.
    public var tags: [String]

    /// Makes a device.
    public init(platform: Platform, channel: String, tags: [String] = []) {
        self.platform = platform
        self.channel = channel
        self.tags = tags
    }

    /// Makes an Apple device of the token that the system hands over.
    public init(deviceToken: Data, tags: [String] = []) {
        let digits = deviceToken.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return text.count == 1 ? "0\(text)" : text
        }
        self.init(platform: .apns, channel: digits.joined(), tags: tags)
    }
}

/// The registration of this device, as far as the client remembers it.
struct RegistrationRecord: Codable, Sendable, Equatable {
    /// The installation's ID, which the client chooses once. It becomes a part of a path, so a store with another text
    /// is damaged.
    var installationID: UUID?
    /// The user for whom the device is registered; `nil` if it is not.
    var userName: UserName?
    /// A digest of the platform, the channel and the tags.
    var digest: String?
    /// The public key that the server has got since the device was registered, as a JWK.
    var publicKey: String?
    /// When it was registered, in seconds since 1970.
    var registeredAt: Double?
}
