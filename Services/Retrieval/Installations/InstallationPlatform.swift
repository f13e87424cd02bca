import SecurePushCore

/// A platform as the hub's installations name it, which is not the name of its format for sends.
///
/// The hub's installations take all of its platforms but Baidu's.
enum InstallationPlatform: String, Sendable, CaseIterable {
    case adm
    case apns
    case browser
    case fcmv1
    case gcm
    case mpns
    case wns
    case xiaomi

    /// Finds a platform by its name in any case: official clients write `fcmV1` and `FCMV1`.
    init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue.equalsIgnoringASCIICase(name) }) else { return nil }
        self = found
    }

    /// The hub's format for pushes to such a device.
    var format: Platform {
        switch self {
        case .apns: .apple
        case .wns: .windows
        case .mpns: Platform(rawValue: "windowsphone")
        case .fcmv1: .fcmv1
        case .gcm: .gcm
        case .adm, .browser, .xiaomi: Platform(rawValue: rawValue)
        }
    }
}
