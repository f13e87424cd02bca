/// The emulator's event for a push: `event: notification`, and an object with the native body in `Body`.
enum PushEvent {
    /// The native body; `nil` for an event that is no push.
    static func body(of event: ServerSentEvents.Event) -> String? {
        guard event.name == "notification", let body = JSONText.member("Body", of: event.data) else { return nil }
        return JSONText.string(body)
    }
}
