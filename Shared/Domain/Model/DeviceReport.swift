package import Foundations

/// The text that a device has shown for a notification, and the reason: the body of `POST
/// /api/notifications/{id}/shown`.
package struct DeviceReport: Sendable, Hashable {
    package enum Text: String, Sendable, CaseIterable {
        /// The secret, or the app's own text for it.
        case secret
        /// The generic text, because the device could not get or show the secret.
        case generic
    }

    package var text: Text
    /// Why the text is generic, such as `SP-KEY`; `nil` if there was no trouble. See ``isCode(_:)``.
    package var code: String?
    /// The SDK and its version, such as `swift/0.2.0`. See ``isSDK(_:)``.
    package var sdk: String?

    package init(text: Text, code: String? = nil, sdk: String? = nil) {
        self.text = text
        self.code = code
        self.sdk = sdk
    }

    /// The codes of the SDKs that metrics name. An SDK may have others.
    package static let knownCodes = [
        "SP-401", "SP-403", "SP-404", "SP-410", "SP-422", "SP-429", "SP-500", "SP-502", "SP-503", "SP-504", "SP-AGE",
        "SP-CREDENTIALS", "SP-DECRYPT", "SP-EXPIRED", "SP-ID", "SP-JSON", "SP-KEY", "SP-LOCKED", "SP-LOGIN",
        "SP-OFFLINE", "SP-PLAIN", "SP-PUSH", "SP-REPLAY", "SP-SEEN", "SP-SENDER", "SP-SHOW", "SP-SIGNATURE", "SP-SIZE",
        "SP-STORE", "SP-TIMEOUT", "SP-TLS",
    ]

    /// Whether a text can be a code: `SP-` and 1 to 16 of `A-Z 0-9`.
    package static func isCode(_ text: String) -> Bool {
        let rest = text.utf8.dropFirst(3)
        return text.utf8.starts(with: "SP-".utf8) && (1...16).contains(rest.count)
            && codeBytes.containsAll(rest)
    }

    /// Whether a text can name an SDK: 1 to 64 visible ASCII characters.
    package static func isSDK(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && ByteSet.visible.containsAll(text)
    }

    private static let codeBytes = ByteSet.digits.union(ByteSet(0x41...0x5A))
}

/// The last report of one device about a notification.
package struct ShownDevice: Sendable, Hashable {
    /// The ID of the installation, in the spelling that the store has.
    package var deviceID: String
    /// The hub's name of its platform.
    package var platform: String
    package var shownAt: Timestamp
    package var report: DeviceReport

    package init(deviceID: String, platform: String, shownAt: Timestamp, report: DeviceReport) {
        self.deviceID = deviceID
        self.platform = platform
        self.shownAt = shownAt
        self.report = report
    }

    /// The most devices of a notification that are shown to its sender, the newest.
    package static let maxListed = 20
    /// The most devices of a notification that are stored. A user has at most as many at a time.
    package static let maxStored = 100
}

/// How many devices have shown the generic text, for one reason, by one SDK.
package struct GenericTextCount: Sendable, Hashable {
    package var code: String?
    package var sdk: String?
    package var platform: String
    /// The notifications for which at least one of the devices has shown the generic text.
    package var notifications: Int
    package var devices: Int
    package var newest: Timestamp

    package init(
        code: String?, sdk: String?, platform: String, notifications: Int, devices: Int, newest: Timestamp
    ) {
        self.code = code
        self.sdk = sdk
        self.platform = platform
        self.notifications = notifications
        self.devices = devices
        self.newest = newest
    }

    /// The most reports that are counted, the newest, and the most groups.
    package static let maxScan = 10_000
    package static let maxGroups = 50
}
