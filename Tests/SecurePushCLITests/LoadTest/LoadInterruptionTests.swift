import Domain
import Synchronization
import TestSupport
import Testing

@testable import SecurePushCLI

/// A signal in the middle of a load test.
@Suite struct LoadInterruptionTests {
    private let plan = LoadPlan(count: 1000, concurrency: 4)

    /// Starts a run against a service that holds its answers back, and interrupts it when four requests are in flight.
    ///
    /// - Parameter answers: how many of them are answered; if not all, they are so before the patience begins.
    private func interrupted(answers: Int, patience: Duration) async throws -> LoadReport {
        let target = HeldIngest(answers: answers)
        let (measurements, stop) = (LoadMeasurements(plan), StopRequest())
        let sender = LoadSender(
            target: target, measurements: measurements, stop: stop, patienceAfterStop: patience)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sender.run() }
            while target.held < 4 { try await Task.sleep(for: .milliseconds(1)) }
            measurements.interrupt()
            if answers < 4 {
                target.release()
                try await expectEventually { measurements.snapshot.ids.count == answers }
            }
            stop.request()
            target.release()
            try await group.waitForAll()
        }
        return LoadReport(measurements.snapshot, plan: plan, interrupted: true)
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            (4, Duration.seconds(30), "4 of them were answered"),
            (1, .milliseconds(200), "1 of them were answered, 3 without an answer may have been accepted"),
        ])
    func `What is in flight gets its answer or is unknown, and nothing more is sent`(
        answers: Int, patience: Duration, words: String
    ) async throws {
        let report = try await interrupted(answers: answers, patience: patience)
        #expect(
            report.interruption == LoadReport.Interruption(inFlight: 4, answered: answers, unknown: 4 - answers))
        #expect(report.sent == 4 && report.accepted == answers && report.failed == 0 && !report.isSuccess)
        #expect(report.text { text, _ in text }.contains("interrupted 4 were in flight, " + words))
    }

    @Test func `After an interruption no request begins`() {
        let measurements = LoadMeasurements(plan)
        #expect(measurements.startRequest(3))
        measurements.interrupt()
        #expect(!measurements.startRequest(1))
        measurements.interrupt()
        #expect(measurements.snapshot.inFlightAtStop == 3)
        #expect(measurements.snapshot.sent == 3)
    }

    @Test(.timeLimit(.minutes(5))) func `The dispatch is counted once after a stop`() async throws {
        let (measurements, stop) = (LoadMeasurements(LoadPlan(count: 100, concurrency: 1)), StopRequest())
        var behavior = FakeIngest.Behavior()
        behavior.looksUntilDispatched = 0
        behavior.observe = { range in
            guard range.contains(20) else { return }
            measurements.interrupt()
            stop.request()
        }
        try await LoadRun(target: FakeIngest(behavior), measurements: measurements, stop: stop).run()
        let report = LoadReport(measurements.snapshot, plan: measurements.plan, interrupted: true)
        #expect(report.dispatch?.statuses == ["dispatched": 21])
        #expect(report.dispatch?.pending == 0)
        #expect(report.interruption?.unknown == 0)
    }
}

/// Holds all requests until it is released, and then answers some of them.
private final class HeldIngest: LoadTarget {
    private struct State {
        var held = 0
        var answers: Int
        var isReleased = false
    }

    private let state: Mutex<State>

    init(answers: Int) { state = Mutex(State(answers: answers)) }

    var held: Int { state.withLock { $0.held } }
    func release() { state.withLock { $0.isReleased = true } }

    func push(_ notifications: Range<Int>, report: @escaping (Int, PushResult) -> Void) async throws {
        state.withLock { $0.held += 1 }
        while true {
            let isAnswered = state.withLock { state in
                guard state.isReleased, state.answers > 0 else { return false }
                state.answers -= 1
                return true
            }
            if isAnswered { break }
            try await Task.sleep(for: .milliseconds(2))
        }
        for notification in notifications {
            report(notification, .accepted(NotificationID(high: 1, low: UInt64(notification))))
        }
    }

    func state(of id: NotificationID) async throws -> PushedState { throw CommandFailure(.failed, "not here") }
    func page(before id: NotificationID?) async throws -> PushedPage { throw CommandFailure(.failed, "not here") }
}
