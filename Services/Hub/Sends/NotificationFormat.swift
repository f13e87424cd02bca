/// The `ServiceBusNotification-Format` values, and the names of each platform's elements.
enum NotificationFormat: String, CaseIterable, Hashable, Sendable {
    case apple, fcmv1, gcm, windows, windowsphone, adm, baidu, browser, xiaomi, template

    /// Reads the header in any case: SDKs write `fcmv1`, the docs `fcmV1`.
    init?(header: String) {
        guard let format = Self(rawValue: header) ?? Self(rawValue: header.lowercased()) else { return nil }
        self = format
    }

    /// The platforms of devices; `template` is only a format of sends.
    static let platforms = allCases.filter { $0 != .template }

    /// The prefix of the platform's registration elements: `Apple` in `AppleRegistrationDescription`.
    var descriptionPrefix: String {
        switch self {
        case .apple: "Apple"
        case .fcmv1: "FcmV1"
        case .gcm: "Gcm"
        case .windows: "Windows"
        case .windowsphone: "Mpns"
        case .adm: "Adm"
        case .baidu: "Baidu"
        case .browser: "Browser"
        case .xiaomi: "Xiaomi"
        case .template: ""
        }
    }

    /// The elements of a registration that form the device's handle.
    var handleFields: [String] {
        switch self {
        case .apple: ["DeviceToken"]
        case .fcmv1: ["FcmV1RegistrationId"]
        case .gcm: ["GcmRegistrationId"]
        case .windows, .windowsphone: ["ChannelUri"]
        case .adm: ["AdmRegistrationId"]
        case .baidu: ["BaiduUserId", "BaiduChannelId"]
        case .browser: ["Endpoint", "P256DH", "Auth"]
        case .xiaomi: ["XiaomiRegistrationId"]
        case .template: []
        }
    }
}

// MARK: Installations

extension NotificationFormat {
    /// Reads the `platform` of an installation, in any case: `apns`, `wns` and `mpns` mean `apple`, `windows` and
    /// `windowsphone`; all other names are the same.
    init?(installationPlatform name: String) {
        let lowered = name.lowercased()
        guard let format = Self.platforms.first(where: { $0.installationPlatform == lowered }) else { return nil }
        self = format
    }

    /// The `platform` of an installation.
    var installationPlatform: String {
        switch self {
        case .apple: "apns"
        case .windows: "wns"
        case .windowsphone: "mpns"
        default: rawValue
        }
    }

    /// The element of a template's header: `WnsHeader`, in `WnsHeaders`; nil for a platform without them.
    var templateHeaderElement: String? {
        switch self {
        case .apple: "ApnsHeader"
        case .windows: "WnsHeader"
        case .windowsphone: "MpnsHeader"
        default: nil
        }
    }
}
