import PushServices
import StackKit

extension PushAddress {
    /// Of a device that a push service of the tests has made.
    init(_ device: FakePushService.Device) {
        if let p256dh = device.p256dh, let auth = device.auth {
            self = .subscription(endpoint: device.handle, p256dh: p256dh, auth: auth)
        } else {
            self = .handle(device.handle)
        }
    }
}
