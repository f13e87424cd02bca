import SecurePushCore

/// The device's reaction to pushes, as a state machine: the caller performs the actions and passes their results back.
///
/// The user sees each payload once, or the generic prompt, and never an empty notification.
struct DeviceStateMachine: Sendable {
    /// The text that the app shows if it cannot fetch the payload.
    static let prompt = "You have a new message. Log in to read it."

    enum FetchResult: Sendable, Equatable {
        /// The payload as text.
        case payload(String)
        /// 401 or 403.
        case refused(status: Int)
        /// 404 or 410: another user's, unknown, expired or revoked.
        case gone(status: Int)
        /// No response, or an unexpected one.
        case failed(String)
    }

    enum Action: Sendable, Equatable {
        case fetch(NotificationID)
        case show(Shown)
        /// Shows nothing, for this reason.
        case ignore(NotificationID?, reason: String)
    }

    struct Shown: Sendable, Equatable {
        enum Kind: String, Sendable, Encodable {
            case payload
            case prompt
        }
        var id: NotificationID
        var text: String
        var kind: Kind
        /// Why the app shows the prompt instead of the payload.
        var reason: String?
    }

    private enum Progress: Equatable {
        case fetching(promptShown: Bool)
        case prompted
        case settled
    }

    private let hasCredentials: Bool
    private var progress: [NotificationID: Progress] = [:]
    /// The number of texts shown.
    private(set) var shown = 0

    init(hasCredentials: Bool) { self.hasCredentials = hasCredentials }

    /// Handles a push; `nil` is a push without an ID.
    mutating func receive(_ push: NativePush?) -> Action {
        guard let push else { return .ignore(nil, reason: "the push has no ID") }
        switch progress[push.id] {
        case .fetching, .settled: return .ignore(push.id, reason: "already fetched")
        case .prompted where !hasCredentials: return .ignore(push.id, reason: "the prompt was shown already")
        case .prompted: progress[push.id] = .fetching(promptShown: true)
        case nil where !hasCredentials: return prompt(push.id, reason: "nobody is logged in")
        case nil: progress[push.id] = .fetching(promptShown: false)
        }
        return .fetch(push.id)
    }

    /// Handles the result of a fetch.
    mutating func finish(_ id: NotificationID, _ result: FetchResult) -> Action {
        guard case .fetching(let promptShown) = progress[id] else {
            return .ignore(id, reason: "not requested")
        }
        switch result {
        case .payload(let text):
            progress[id] = .settled
            shown += 1
            return .show(Shown(id: id, text: text, kind: .payload))
        case .gone(let status):
            progress[id] = .settled
            return .ignore(id, reason: "the server has no such notification for this user (\(status))")
        case .refused(let status):
            return promptShown ? repeated(id) : prompt(id, reason: "the server answered \(status)")
        case .failed(let reason):
            return promptShown ? repeated(id) : prompt(id, reason: reason)
        }
    }

    private mutating func prompt(_ id: NotificationID, reason: String) -> Action {
        progress[id] = .prompted
        shown += 1
        return .show(Shown(id: id, text: DeviceStateMachine.prompt, kind: .prompt, reason: reason))
    }

    private mutating func repeated(_ id: NotificationID) -> Action {
        progress[id] = .prompted
        return .ignore(id, reason: "the prompt was shown already")
    }
}

/// The content of a push: the notification's ID and the kind of push.
struct NativePush: Sendable, Equatable {
    var id: NotificationID
    /// `silent push`, `alert push`, `data message` or `raw notification`.
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

    /// Reads the native body; `nil` if it has no notification ID.
    init?(platform: DevicePlatform, body: String) {
        let text: String?
        switch platform {
        case .apple:
            let push = try? JSONCoding.decode(Apple.self, from: body)
            text = push?.secureId
            kind = push?.aps?.alert == nil ? "silent push" : "alert push"
        case .fcmv1:
            let push = try? JSONCoding.decode(Android.self, from: body)
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
