/// A platform as the hub names its formats: `apple`, `fcmv1`, `windows`, `adm`, `browser`, and the legacy `gcm`.
public struct Platform: Hashable, Sendable, RawRepresentable {
    public let rawValue: String

    /// Any format name; whether the hub knows it is the hub's answer, see ``known``.
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let apple = Platform(rawValue: "apple")
    public static let fcmv1 = Platform(rawValue: "fcmv1")
    public static let gcm = Platform(rawValue: "gcm")
    public static let windows = Platform(rawValue: "windows")
    /// Amazon Device Messaging.
    public static let adm = Platform(rawValue: "adm")
    /// Web Push.
    public static let browser = Platform(rawValue: "browser")

    /// The platforms for which a native form exists here.
    public static let known: [Platform] = [.apple, .fcmv1, .gcm, .windows, .adm, .browser]
}

extension Platform: CustomStringConvertible {
    public var description: String { rawValue }
}
