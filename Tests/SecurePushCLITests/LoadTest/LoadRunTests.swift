import AsyncHTTPClient
import Domain
import SecurePushClient
import Synchronization
import Testing

@testable import SecurePushCLI

@Suite struct LoadRunTests {
    private func run(
        _ plan: LoadPlan, _ behavior: FakeIngest.Behavior = .init(), stop: StopRequest = StopRequest()
    ) async throws -> (report: LoadReport, ingest: FakeIngest) {
        let ingest = FakeIngest(behavior)
        let measurements = LoadMeasurements(plan)
        try await LoadRun(target: ingest, measurements: measurements, stop: stop).run()
        return (LoadReport(measurements.snapshot, plan: plan, interrupted: stop.isRequested), ingest)
    }

    @Test func `Everything is sent once, dispatched and counted`() async throws {
        let sent = Mutex<[Int]>([])
        var behavior = FakeIngest.Behavior()
        behavior.observe = { range in sent.withLock { $0 += range } }
        let plan = LoadPlan(count: 120, concurrency: 7)
        let (report, ingest) = try await run(plan, behavior)
        #expect(sent.withLock { $0.sorted() } == Array(0..<120))
        #expect(ingest.mostAtOnce <= 7)
        #expect(report.sent == 120)
        #expect(report.accepted == 120)
        #expect(report.acceptLatency.count == 120)
        #expect(report.dispatch?.statuses == ["dispatched": 120])
        #expect(report.dispatch?.pending == 0)
        #expect(report.isSuccess)
    }

    @Test func `Dispatch figures come from the records' own times`() async throws {
        let (report, _) = try await run(LoadPlan(count: 101, concurrency: 1))
        let dispatch = try #require(report.dispatch)
        #expect(dispatch.latency.count == 101)
        #expect([dispatch.latency.p50, dispatch.latency.p999, dispatch.latency.maximum] == [40, 40, 40])
        // The fake accepts one a millisecond, and the last is taken 40 ms after it was accepted.
        #expect(dispatch.durationSeconds == 0.14)
        #expect(dispatch.drainSeconds == 0.04)
        #expect(dispatch.dispatchedPerSecond == 721.4)
    }

    @Test(.timeLimit(.minutes(5))) func `Devices of a test that cannot begin are removed`() async throws {
        let answer = { @Sendable (request: String, _: Int) in
            ScriptedServer.Answer(status: request.hasPrefix("PUT ") ? 400 : 200)
        }
        try await ScriptedServer.with(answer) { server in
            let measurements = LoadMeasurements(LoadPlan(count: 1, recipients: 1, devices: 1))
            let http = HTTPClientTransport.makeClient(connections: 2, to: server.url)
            let api = try APIClient(service: "retrieval", url: server.url)
            let device = SimulatedDevice(
                user: "load-000001", channel: PushChannel(platform: .apple, handle: "aa", emulator: api),
                logIn: .init(credentials: .bearer("t"), first: .bearer("t")), configuration: try .init(api), http: http,
                screen: LoadScreen(payload: "x", measurements: measurements), report: { _ in })
            let fleet = DeviceFleet(devices: [device], retrieval: api, emulator: api, tell: { _ in })
            let run = LoadRun(target: FakeIngest(), measurements: measurements, stop: StopRequest(), fleet: fleet)
            await #expect(throws: CommandFailure.self) { try await run.run() }
            try await http.shutdown()
            // An answer can be lost, so even a refused one is removed.
            let made = server.requests.filter { $0.hasPrefix("PUT ") }.map { $0.dropFirst(4) }
            let removed = server.requests.filter { $0.hasPrefix("DELETE ") }.map { $0.dropFirst(7) }
            #expect(!made.isEmpty && Set(removed) == Set(made), "\(server.requests)")
        }
    }

    @Test func `Batches`() async throws {
        let sizes = Mutex<[Int]>([])
        var behavior = FakeIngest.Behavior()
        behavior.observe = { range in sizes.withLock { $0.append(range.count) } }
        let (report, _) = try await run(LoadPlan(count: 25, concurrency: 2, batch: 10, usesBatchRoute: true), behavior)
        #expect(sizes.withLock { $0.sorted() } == [5, 10, 10])
        #expect(report.accepted == 25)
        #expect(report.batch == 10)
    }

    @Test func `Of many a sample is looked at, the last one among it`() async throws {
        let (report, _) = try await run(LoadPlan(count: 5000, concurrency: 3))
        let dispatch = try #require(report.dispatch)
        #expect([1667, 1668].contains(dispatch.latency.count))
        #expect(dispatch.statuses == ["dispatched": 5000])
        #expect(dispatch.durationSeconds == 5.039)
    }

    /// A service that does not dispatch everything at once, and what is reported.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var plan = LoadPlan(count: 10, concurrency: 1)
        var behavior: FakeIngest.Behavior
        var accepted = 10
        var failures: [String: Int] = [:]
        /// `nil` if nothing is told of the dispatch.
        var statuses: [String: Int]?
        var pending = 0
        var problems: [String] = []
        var isSuccess = false
    }

    @Test(arguments: [
        Case(
            testDescription: "Failures are counted by reason, and the rest goes on",
            behavior: .init(failure: { $0 == 3 ? "503" : $0 == 4 ? "no answer in time" : nil }), accepted: 8,
            failures: ["503": 1, "no answer in time": 1], statuses: ["dispatched": 8]),
        Case(
            testDescription: "What fails at the hub is told",
            behavior: .init(end: { $0.isMultiple(of: 2) ? .failed : .dispatched }),
            statuses: ["dispatched": 5, "failed": 5]),
        Case(
            testDescription: "What is never dispatched is given up after a time in which nothing moved",
            plan: LoadPlan(count: 3, concurrency: 1, drainTimeout: .milliseconds(20)),
            behavior: .init(looksUntilDispatched: .max), accepted: 3, statuses: [:], pending: 3),
        Case(
            testDescription: "A status that cannot be had is a problem, and the rest is told",
            behavior: .init(stateFailure: CommandFailure(.failed, "ingest answered 404")), statuses: [:], pending: 10,
            problems: ["The dispatch was not measured completely: ingest answered 404"]),
        Case(
            testDescription: "Without waiting nothing is said of the dispatch",
            plan: LoadPlan(count: 3, concurrency: 1, waits: false), behavior: .init(looksUntilDispatched: .max),
            accepted: 3, isSuccess: true),
    ])
    func `What a service does is in the report`(_ test: Case) async throws {
        let (report, _) = try await run(test.plan, test.behavior)
        #expect(report.accepted == test.accepted && report.failures == test.failures)
        #expect(report.dispatch?.statuses == test.statuses)
        #expect(report.dispatch?.pending == test.statuses.map { _ in test.pending })
        #expect(report.problems == test.problems && report.isSuccess == test.isSuccess)
        if test.statuses == [:] { #expect(report.dispatch?.dispatchedPerSecond == nil) }
    }

    @Test func `What ends after the samples were given up is measured all the same`() async throws {
        let plan = LoadPlan(count: 3, concurrency: 1, drainTimeout: .zero)
        let (report, _) = try await run(plan, .init(looksUntilDispatched: 2))
        #expect(report.dispatch?.latency.count == 3)
    }

    @Test func `A refusal ends it: as the failure when nothing was measured, else as a problem`() async throws {
        var behavior = FakeIngest.Behavior()
        let refusal = CommandFailure(.failed, "ingest answered 401")
        behavior.refusal = { _ in refusal }
        await #expect(throws: refusal) { try await run(LoadPlan(count: 10, concurrency: 2), behavior) }
        behavior.refusal = { $0 == 5 ? refusal : nil }
        let (report, _) = try await run(LoadPlan(count: 100, concurrency: 1), behavior)
        #expect(report.accepted == 5)
        #expect(report.problems == ["ingest answered 401"])
        #expect(!report.isSuccess)
    }

    @Test func `A stop ends sending and waiting, and keeps what was measured`() async throws {
        let stop = StopRequest()
        var behavior = FakeIngest.Behavior()
        behavior.looksUntilDispatched = .max
        behavior.observe = { if $0.contains(20) { stop.request() } }
        let (report, _) = try await run(LoadPlan(count: 1000, concurrency: 1), behavior, stop: stop)
        #expect(report.sent == 21)
        #expect(report.accepted == 21)
        #expect(report.interrupted)
        #expect(!report.isSuccess)
    }

    @Test func `At a rate nothing is sent before its time`() async throws {
        let start = ContinuousClock.now
        let times = Mutex<[(Int, Duration)]>([])
        var behavior = FakeIngest.Behavior()
        behavior.observe = { range in times.withLock { $0.append((range.lowerBound, .now - start)) } }
        let (report, _) = try await run(LoadPlan(count: 5, rate: 20, concurrency: 2, waits: false), behavior)
        for (number, time) in times.withLock({ $0 }) { #expect(time >= .milliseconds(50 * number)) }
        #expect(report.ratePerSecond == 20)
        #expect(report.accepted == 5)
    }

    @Test func `Waiting for a worker counts into the latency at a rate`() async throws {
        // One worker, 20 ms a request, one every 5 ms asked for: the fifth is due at 20 ms and ends at 100 ms.
        let measurements = LoadMeasurements(LoadPlan(count: 5, rate: 200, concurrency: 1, waits: false))
        try await LoadRun(target: SlowIngest(), measurements: measurements, stop: StopRequest()).run()
        let histogram = measurements.snapshot.accepted
        #expect(histogram.maximum >= 80_000)
        // Three digits of it are exact.
        #expect(histogram.percentile(0) >= 19_900)
    }
}

/// Takes 20 ms for each request.
private struct SlowIngest: LoadTarget {
    func push(_ notifications: Range<Int>, report: @escaping (Int, PushResult) -> Void) async throws {
        let end = ContinuousClock.now + .milliseconds(20)
        while .now < end { await Task.yield() }
        for notification in notifications {
            report(notification, .accepted(NotificationID(high: 1, low: UInt64(notification))))
        }
    }

    func state(of id: NotificationID) async throws -> PushedState { throw CommandFailure(.failed, "not here") }
    func page(before id: NotificationID?) async throws -> PushedPage { throw CommandFailure(.failed, "not here") }
}
