import SecurePushCore

/// The answer to an accepted request, written by hand: it is the same few members every time.
struct NotificationResponse {
    let notifications: [Notification]
    /// Whether the request named `Recipients`: the answer is a list and has no `Location` then.
    let isForMany: Bool

    /// The body, JSON.
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
