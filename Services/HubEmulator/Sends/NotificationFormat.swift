/// The `ServiceBusNotification-Format` values, and what belongs to each platform.
enum NotificationFormat: String, CaseIterable, Hashable, Sendable {
    case apple, fcmv1, gcm, windows, windowsphone, adm, baidu, browser, xiaomi, template

    /// Reads the header, in any case: SDKs write `fcmv1`, the docs `fcmV1`.
    init?(header: String) {
        guard let format = Self(rawValue: header) ?? Self(rawValue: header.lowercased()) else { return nil }
        self = format
    }

    /// The platforms that devices register for; `template` is only a way to send.
    static let platforms = allCases.filter { $0 != .template }

    /// How the names of the platform's registration elements begin: `AppleRegistrationDescription`.
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

    /// The elements of a registration that make up the device's handle; the first is enough to find it.
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
