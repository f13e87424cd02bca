import NIOCore
import SecurePushClient
import SecurePushCore

/// A push as the device's system hands it to the app.
struct NativePush: Sendable {
    /// The client library's form.
    var push: IncomingPush
    /// `silent push`, `alert push`, `data message`, `raw notification` or `withdrawal`.
    var kind: String
    /// Whether the system starts the app's service extension, which replaces the text of the alert.
    var isForExtension = false

    /// Reads the native body, in the way of the platform's system.
    init(platform: DevicePlatform, body: String) {
        switch platform {
        case .apple:
            let root = JSONValue(text: body)
            push = IncomingPush(userInfo: Self.values(root))
            isForExtension = root?["aps"]?["alert"] != nil
            kind = isForExtension ? "alert push" : "silent push"
        case .fcmv1:
            let root = JSONValue(text: body)
            let data = root?["message"]?["data"] ?? root?["data"]
            // Firebase takes no other values than strings.
            push = IncomingPush(data: Self.values(data).reduce(into: [:]) { $0["\($1.key)"] = $1.value as? String })
            kind = "data message"
        case .windows:
            push = IncomingPush(raw: body)
            kind = "raw notification"
        }
        if push.isWithdrawal { kind = "withdrawal" }
    }

    /// The members of an object; values other than strings keep their form.
    private static func values(_ object: JSONValue?) -> [AnyHashable: Any] {
        var values: [AnyHashable: Any] = [:]
        for member in object?.members ?? [] {
            if let text = member.value.text { values[member.name] = text } else { values[member.name] = member.value }
        }
        return values
    }
}

/// The push channel of a simulated device: its stream at the hub emulator, in place of Apple's, Google's or Microsoft's
/// push service.
struct PushChannel: Sendable {
    let platform: DevicePlatform
    let handle: String
    let emulator: APIClient

    /// Takes pushes until cancelled. Reconnects if the stream breaks.
    ///
    /// - Parameters:
    ///   - opened: called at each connection.
    ///   - lost: called with the reason when the stream breaks.
    /// - Throws: ``CommandFailure`` if the emulator cannot be used at all.
    func receive(
        opened: @Sendable () -> Void, lost: @Sendable (String) -> Void, _ take: (NativePush) -> Void
    ) async throws {
        var delay = Duration.milliseconds(200)
        while true {
            var events = ServerSentEvents()
            do {
                try await emulator.stream("/emulator/devices/\(PercentCoding.encode(handle))/stream") {
                    delay = .milliseconds(200)
                    opened()
                } _: { buffer in
                    for event in events.feed(buffer.readableBytesView) {
                        guard let body = PushEvent.body(of: event) else { continue }
                        take(NativePush(platform: platform, body: body))
                    }
                }
            } catch {
                try Task.checkCancellation()
                let failure = CommandFailure(describing: error)
                // Retries unless the command line or the settings are wrong.
                if failure.code != .unreachable && failure.code != .failed { throw failure }
                lost(failure.message)
            }
            try await Task.sleep(for: delay * Double.random(in: 0.5...1))
            delay = min(delay * 2, .seconds(5))
        }
    }
}
