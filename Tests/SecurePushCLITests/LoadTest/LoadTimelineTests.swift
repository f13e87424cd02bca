import SecurePushCore
import Testing

@testable import SecurePushCLI

@Suite struct LoadTimelineTests {
    @Test func `Results lie in the interval of their time`() {
        var timeline = LoadTimeline()
        timeline.noteAccepted(at: .milliseconds(5), latency: .milliseconds(2))
        timeline.noteAccepted(at: .milliseconds(25), latency: .milliseconds(4))
        timeline.noteFailed(at: .milliseconds(29))
        #expect(timeline.interval == .milliseconds(10))
        #expect(timeline.slots.map(\.accepted) == [1, 0, 1])
        #expect(timeline.slots.map(\.failed) == [0, 0, 1])
        #expect(timeline.slots[1].accept == nil)
        #expect(timeline.slots[2].accept?.count == 1)
    }

    @Test func `A long test has longer intervals and loses nothing`() {
        var timeline = LoadTimeline()
        for second in 0..<600 { timeline.noteAccepted(at: .seconds(second), latency: .milliseconds(second)) }
        #expect(timeline.slots.count <= LoadTimeline.maxSlots)
        #expect(timeline.slots.count > LoadTimeline.maxSlots / 2)
        #expect(timeline.slots.reduce(0) { $0 + $1.accepted } == 600)
        #expect(timeline.slots.reduce(0) { $0 + ($1.accept?.count ?? 0) } == 600)
        #expect(timeline.interval == .milliseconds(10 * 512))
    }

    @Test func `A clock that goes back changes no interval`() {
        var timeline = LoadTimeline()
        timeline.noteFailed(at: .seconds(-5))
        #expect(timeline.slots.map(\.failed) == [1])
    }

    @Test func `The backlog is what was accepted and not dispatched, and drains`() throws {
        let plan = LoadPlan(count: 100, concurrency: 1)
        let measurements = LoadMeasurements(plan)
        // One is accepted each millisecond, and the hub answers 40 ms later.
        measurements.update { state in
            state.firstAccepted = .zero
            for number in 0..<100 {
                let id = NotificationID(high: 1, low: UInt64(number))
                let time = Timestamp(milliseconds: 1_700_000_000_000) + .milliseconds(number)
                state.ids.append(id)
                state.timeline.noteAccepted(at: .milliseconds(number), latency: .milliseconds(1))
                state.dispatch.note(
                    id, PushedState(createdAt: time, status: .dispatched, sentAt: time + .milliseconds(40)))
            }
        }
        let report = LoadReport(measurements.snapshot, plan: plan, interrupted: false)
        let timeline = try #require(report.timeline)
        let backlog = try #require(timeline.backlog)
        #expect(backlog.max() ?? 0 >= 30)
        #expect(backlog.max() ?? 0 <= 50)
        #expect(backlog.last == 0)
        #expect(timeline.dispatched?.reduce(0, +) == 100)
        #expect(timeline.accepted.reduce(0, +) == 100)
        #expect(timeline.dispatchP50?.compactMap { $0 }.allSatisfy { $0 == 40 } == true)
    }

    @Test func `Without waiting there is no dispatch in the timeline`() {
        let plan = LoadPlan(count: 1, waits: false)
        let timeline = LoadReport(LoadMeasurements(plan).snapshot, plan: plan, interrupted: false).timeline
        #expect(timeline?.dispatched == nil && timeline?.backlog == nil)
    }

    // MARK: Lines without a terminal

    @Test func `A line for each 10 % that were accepted and dispatched`() {
        var milestones = LoadMilestones()
        var progress = LoadProgress(phase: .preparing, total: 1000, accepted: 0, elapsed: .zero)
        #expect(milestones.lines(progress) == [])
        progress = LoadProgress(phase: .sending, total: 1000, accepted: 99, elapsed: .seconds(1))
        #expect(milestones.lines(progress) == [])
        progress.accepted = 100
        #expect(milestones.lines(progress) == ["accepted    10%  100 of 1,000  100/s"])
        #expect(milestones.lines(progress) == [])
        progress.accepted = 350
        progress.failed = 2
        progress.dispatched = 120
        #expect(
            milestones.lines(progress) == [
                "accepted    30%  350 of 1,000  350/s  2 failed", "dispatched  10%  120 of 1,000",
            ])
        progress.accepted = 1000
        progress.dispatched = 1000
        #expect(milestones.lines(progress).count == 2)
        #expect(milestones.lines(progress) == [])
    }

    @Test func `The last line of a whole run says that all were dispatched`() async throws {
        let plan = LoadPlan(count: 4001, concurrency: 2)
        let measurements = LoadMeasurements(plan)
        var behavior = FakeIngest.Behavior()
        behavior.looksUntilDispatched = 0
        try await LoadRun(target: FakeIngest(behavior), measurements: measurements, stop: StopRequest()).run()
        let progress = measurements.progress
        #expect(progress.dispatched == 4001)
        var milestones = LoadMilestones()
        #expect(milestones.lines(progress).last == "dispatched  100%  4,001 of 4,001")
    }
}
