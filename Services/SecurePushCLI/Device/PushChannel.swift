import Foundations
import NIOCore

/// The push channel of a simulated device: its stream at the hub emulator, in place of Apple's, Google's or Microsoft's
/// push service.
struct PushChannel: Sendable {
    let platform: DevicePlatform
    let handle: String
    let emulator: APIClient

    /// Takes pushes until cancelled. Reconnects with back-off if the stream breaks.
    ///
    /// - Parameters:
    ///   - opened: called at each connection.
    ///   - lost: called with the reason when the stream breaks.
    /// - Throws: ``CommandFailure`` if the emulator cannot be used at all, or does not open the stream at the start
    ///   within the tries of ``RetrySchedule/atStart``.
    func receive(
        opened: @Sendable () -> Void, lost: @Sendable (String) -> Void, _ take: (NativePush) -> Void
    ) async throws {
        var schedule = RetrySchedule.atStart
        while true {
            var wait: Duration? = .milliseconds(200)
            var events = ServerSentEvents()
            do {
                try await emulator.stream("/emulator/devices/\(PercentCoding.encode(handle))/stream") {
                    schedule.succeed()
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
                wait = schedule.next(retryAfter: failure.retryAfter)
                if wait == nil, schedule.maxTries != nil { throw emulator.notThere(failure, tries: schedule.failures) }
                lost(failure.message)
            }
            // An emulator that was there is expected back, even if it asks for a very long wait.
            try await Task.sleep(for: wait ?? RetrySchedule.longestRetryAfter)
        }
    }
}

extension APIClient {
    /// Waits until the hub emulator answers, so that devices do not register for a channel that does not exist.
    ///
    /// - Parameter waiting: called before each further try, with the reason and the wait.
    /// - Throws: ``CommandFailure`` with code `unreachable` after the tries of the schedule.
    func waitForEmulator(
        _ schedule: RetrySchedule = .atStart, waiting: (CommandFailure, Duration) -> Void
    ) async throws {
        var schedule = schedule
        while true {
            do {
                _ = try await request(.get, "/livez")
                return
            } catch let failure as CommandFailure {
                guard failure.code == .unreachable, let wait = schedule.next(retryAfter: failure.retryAfter) else {
                    throw failure.code == .unreachable ? notThere(failure, tries: schedule.failures) : failure
                }
                waiting(failure, wait)
                try await Task.sleep(for: wait)
            }
        }
    }

    /// The failure of an emulator that does not answer at the start.
    fileprivate func notThere(_ failure: CommandFailure, tries: Int) -> CommandFailure {
        var failure = failure
        failure.details.append("The device gave up after \(tries == 1 ? "one try" : "\(tries.grouped) tries").")
        failure.hint =
            "A simulated device gets its pushes from a hub with simulated platforms, or from hub-emulator. `make up` "
            + "starts one; --emulator-url or HUB_EMULATOR_URL gives its address."
        return failure
    }
}
