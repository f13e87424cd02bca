import Domain
import Foundations

/// The answer to an accepted request. It is assembled by hand because its members never change.
struct NotificationResponse {
    let notifications: [Notification]
    /// Whether the request had `Recipients`: the body is a list and there is no `Location` then.
    let isForMany: Bool

    /// The JSON body.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 * notifications.count)
        if isForMany { bytes.append(contentsOf: #"{"Notifications":["#.utf8) }
        for (index, notification) in notifications.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(notification, to: &bytes)
        }
        if isForMany { bytes.append(contentsOf: "]}".utf8) }
        return bytes
    }

    /// The path at which the recipient's device reads the notification.
    var location: String? {
        isForMany ? nil : notifications.first.map { "/api/notifications/\($0.id)" }
    }

    private func append(_ notification: Notification, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"Id":""#.utf8)
        bytes.append(contentsOf: notification.id.description.utf8)
        bytes.append(contentsOf: #"","Recipient":"#.utf8)
        JSONText.append(notification.recipient.text, to: &bytes)
        bytes.append(contentsOf: #","Status":"accepted","CreatedAt":""#.utf8)
        bytes.append(contentsOf: notification.createdAt.description.utf8)
        bytes.append(contentsOf: #"","ExpiresAt":""#.utf8)
        bytes.append(contentsOf: notification.expiresAt.description.utf8)
        bytes.append(contentsOf: #""}"#.utf8)
    }
}
