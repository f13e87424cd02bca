import Domain
import Foundations

extension Overview {
    /// Devices that have shown the generic text in the place of a secret, for one reason, by one SDK.
    struct GenericText: Encodable, Sendable, Equatable {
        /// Such as `SP-KEY`; missing if the device sent none.
        var code: String?
        /// Such as `swift/0.2.0`.
        var sdk: String?
        var platform: String
        /// Each is counted once, however many devices have shown its generic text.
        var notifications: Int
        var devices: Int
        /// When the last report came.
        var newest: String

        init(_ count: GenericTextCount) {
            (code, sdk, platform) = (count.code, count.sdk, count.platform)
            (notifications, devices, newest) = (count.notifications, count.devices, count.newest.description)
        }
    }
}
