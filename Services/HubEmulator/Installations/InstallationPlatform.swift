extension NotificationFormat {
    /// Reads the `platform` of an installation, in any case: `apns`, `wns`, `mpns` where sends say `apple`, `windows`,
    /// `windowsphone`; all others alike.
    init?(installationPlatform name: String) {
        let lowered = name.lowercased()
        guard let format = Self.platforms.first(where: { $0.installationPlatform == lowered }) else { return nil }
        self = format
    }

    /// What an installation calls the platform.
    var installationPlatform: String {
        switch self {
        case .apple: "apns"
        case .windows: "wns"
        case .windowsphone: "mpns"
        default: rawValue
        }
    }

    /// How the elements are called that hold the headers of a template: `WnsHeaders`, of `WnsHeader`; nil where there
    /// are none.
    var templateHeaderElement: String? {
        switch self {
        case .apple: "ApnsHeader"
        case .windows: "WnsHeader"
        case .windowsphone: "MpnsHeader"
        default: nil
        }
    }
}
