import SecurePushCore

/// What a device finds in a push of its platform: a notification's ID and the kind of the push.
struct NativePush: Sendable, Equatable {
    var id: NotificationID
    /// In words, for people: `silent push`, `alert push`, `data message`, `raw notification`.
    var kind: String

    private struct Apple: Decodable {
        struct Aps: Decodable {
            var alert: Alert?
        }
        struct Alert: Decodable {}
        var aps: Aps?
        var secureId: String
    }
    private struct Android: Decodable {
        struct Message: Decodable { var data: Data }
        struct Data: Decodable { var secureId: String }
        var message: Message?
        var data: Data?
    }

    /// Reads the native body; `nil` for one that holds no ID, which is none of ours.
    init?(platform: DevicePlatform, body: String) {
        let text: String?
        switch platform {
        case .apple:
            let push = try? JSONText.decode(Apple.self, from: body)
            text = push?.secureId
            kind = push?.aps?.alert == nil ? "silent push" : "alert push"
        case .fcmv1:
            let push = try? JSONText.decode(Android.self, from: body)
            text = push?.message?.data.secureId ?? push?.data?.secureId
            kind = "data message"
        case .windows:
            text = body.droppingLineEnd
            kind = "raw notification"
        }
        guard let text, let id = NotificationID(text) else { return nil }
        self.id = id
    }
}
