import Foundations
import Synchronization
import Testing

@testable import Hub

@Suite(.timeLimit(.minutes(1))) struct DueAlarmTests {
    /// A wall clock that is set back by an hour during each sleep.
    private final class ClockThatIsSetBack: Sendable {
        private let time = Mutex(Timestamp.now)

        var clock: DeliveryClock {
            DeliveryClock(
                now: { self.time.withLock { $0 } }, instant: { .now },
                sleep: { time in
                    self.time.withLock { $0 = $0 - .seconds(3600) }
                    try await Task.sleep(for: time)
                })
        }
    }

    @Test func `A clock that is set back does not stretch a wait`() async {
        let clock = ClockThatIsSetBack()
        let start = ContinuousClock.now
        await DueAlarm().wait(for: .milliseconds(20), clock.clock)
        #expect(start.duration(to: .now) >= .milliseconds(20))
    }

    @Test func `A ring for an earlier time ends the wait, and one for a later time does not`() async {
        let alarm = DueAlarm()
        let waiting = Task { await alarm.wait(for: .seconds(3600), .system) }
        alarm.ring(by: .now + .seconds(7200))
        alarm.ring(by: .now + .seconds(1800))
        alarm.ring(by: .now)
        await waiting.value
        // Rung before the wait.
        alarm.ring(by: .now)
        await alarm.wait(for: .seconds(3600), .system)
    }

    @Test func `A cancelled wait ends`() async {
        let waiting = Task { await DueAlarm().wait(for: .seconds(3600), .system) }
        waiting.cancel()
        await waiting.value
    }
}
