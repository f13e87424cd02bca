import Testing

@testable import SecurePushCLI

@Suite struct LoadProgressTests {
    @Test func `The line while sending`() {
        var progress = LoadProgress(
            phase: .sending, total: 100_000, accepted: 12_345, elapsed: .seconds(5))
        #expect(progress.line == "sending  12,345 of 100,000  12%  2,469/s  36 s left")
        progress.failed = 3
        #expect(progress.line == "sending  12,348 of 100,000  12%  2,469/s  3 failed  36 s left")
    }

    @Test func `The last seconds are whole ones`() {
        let progress = LoadProgress(phase: .sending, total: 100, accepted: 90, elapsed: .seconds(18))
        #expect(progress.line == "sending  90 of 100  90%  5.0/s  2 s left")
    }

    @Test func `Nothing sent yet, and all sent`() {
        #expect(
            LoadProgress(phase: .sending, total: 10, accepted: 0, elapsed: .zero).line == "sending  0 of 10  0%  0.0/s")
        #expect(
            LoadProgress(phase: .sending, total: 10, accepted: 10, elapsed: .seconds(1)).line
                == "sending  10 of 10  100%  10.0/s")
    }

    @Test func `The lines of the later phases`() {
        var progress = LoadProgress(phase: .dispatching, total: 10, accepted: 10, elapsed: .seconds(1))
        progress.samples = (3, 10)
        #expect(progress.line == "dispatching  30% of the samples")
        progress.pending = 4
        #expect(progress.line == "counting  4 of 10 not dispatched yet")
        progress.phase = .reading
        progress.reads = (1, 2)
        #expect(progress.line == "reading  1 of 2  50%")
    }

    // MARK: Lines without a terminal

    @Test func `A line for each 10 % that were accepted and dispatched`() {
        var (accepted, dispatched) = (Milestone(), Milestone())
        func lines(_ progress: LoadProgress) -> [String] { progress.milestones(&accepted, &dispatched) }
        var progress = LoadProgress(phase: .preparing, total: 1000, accepted: 0, elapsed: .zero)
        #expect(lines(progress) == [])
        progress = LoadProgress(phase: .sending, total: 1000, accepted: 99, elapsed: .seconds(1))
        #expect(lines(progress) == [])
        progress.accepted = 100
        #expect(lines(progress) == ["accepted    10%  100 of 1,000  100/s"])
        #expect(lines(progress) == [])
        progress.accepted = 350
        progress.failed = 2
        progress.dispatched = 120
        #expect(
            lines(progress) == ["accepted    30%  350 of 1,000  350/s  2 failed", "dispatched  10%  120 of 1,000"])
        progress.accepted = 1000
        progress.dispatched = 1000
        #expect(lines(progress).count == 2)
        #expect(lines(progress) == [])
    }

    @Test func `The last line of a whole run says that all were dispatched`() async throws {
        let measurements = LoadMeasurements(LoadPlan(count: 4001, concurrency: 2))
        var behavior = FakeIngest.Behavior()
        behavior.looksUntilDispatched = 0
        try await LoadRun(target: FakeIngest(behavior), measurements: measurements, stop: StopRequest()).run()
        #expect(measurements.progress.dispatched == 4001)
        var (accepted, dispatched) = (Milestone(), Milestone())
        #expect(measurements.progress.milestones(&accepted, &dispatched).last == "dispatched  100%  4,001 of 4,001")
    }

    @Test(arguments: [
        (Duration.milliseconds(1250), "1.25 s"), (.seconds(42), "42 s"), (.seconds(185), "3 min 05 s"),
        (.seconds(7620), "2 h 07 min"), (.zero, "0.00 s"),
    ])
    func `Durations for people`(duration: Duration, text: String) {
        #expect(duration.spoken == text)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "-1,000")])
    func `Numbers in groups`(number: Int, text: String) {
        #expect(number.grouped == text)
    }
}
