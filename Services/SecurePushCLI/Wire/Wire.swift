import Domain
import Foundations

/// Bodies of the services' APIs. Members are in PascalCase, times in RFC 3339.
enum Wire {
    /// `GET /api/notifications` of a sender, newest first.
    struct NotificationPage: Decodable, Sendable, Equatable {
        struct Row: Decodable, Sendable, Equatable {
            var id: String
            var recipient: String
            var status: String
            var createdAt: String
            var expiresAt: String
            var readAt: String?
        }

        var notifications: [Row]
        var next: String?
    }

    /// `GET /api/notifications/{id}/status`.
    struct Status: Decodable, Sendable, Equatable {
        struct Reminders: Decodable, Sendable, Equatable {
            var sent: Int
            var next: String?
        }

        struct Answer: Decodable, Sendable, Equatable {
            var action: String?
            var text: String?
            var at: String?
            var deviceId: String?
            var failed: Bool?
        }

        var id: String
        var status: String
        var createdAt: String
        var readAt: String?
        var shownAt: String?
        /// `nil` from an earlier service.
        var registeredDevices: Int?
        var deliveries: [DeliveryReport]
        var reminders: Reminders?
        var answer: Answer?
    }

    /// `GET /api/notifications` of a user, oldest first.
    struct InboxPage: Decodable, Sendable, Equatable {
        struct Row: Sendable, Equatable {
            var id: String
            var createdAt: String
            var read: Bool
            /// The text of a string, otherwise the JSON as it was sent; `nil` if it was not asked for, or not sent.
            var payload: String?
        }

        var notifications: [Row]
        var unread: Int
        var next: String?
    }
}

extension Wire.InboxPage.Row: Decodable {
    /// Without the payload, which a decoder would change.
    private enum CodingKeys: CodingKey { case id, createdAt, read }
}

extension Wire.InboxPage {
    /// Takes the payloads from the text of the page.
    mutating func addPayloads(of body: String) {
        let payloads = Array(body.utf8).withUnsafeBufferPointer { bytes -> [String?] in
            guard let reader = try? JSONObjectReader(bytes), let list = reader.member("Notifications", of: reader.value)
            else { return [] }
            return reader.elements(of: list)?.map { entry in
                reader.member("Payload", of: entry).map { reader.text(of: $0) }
            } ?? []
        }
        for (index, payload) in payloads.enumerated() where notifications.indices.contains(index) {
            notifications[index].payload = payload
        }
    }
}
