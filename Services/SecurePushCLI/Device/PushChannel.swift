import NIOCore
import SecurePushCore

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
