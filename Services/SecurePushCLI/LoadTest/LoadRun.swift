import SecurePushCore
import Synchronization

/// Runs a load test.
struct LoadRun: Sendable {
    let target: any LoadTarget
    let measurements: LoadMeasurements
    let stop: StopRequest
    /// The simulated devices; `nil` for none.
    var devices: LoadDevices?

    /// - Throws: if nothing could be measured. Later errors become problems in the measurements.
    func run() async throws {
        guard let devices else { return try await sendAndWatch() }
        do {
            try await devices.register()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await devices.listen() }
                try await devices.waitUntilConnected(stop)
                try await sendAndWatch()
                if measurements.plan.waits { try await devices.waitUntilRead(stop) }
                group.cancelAll()
            }
        } catch {
            await devices.unregister()
            throw error
        }
        await devices.unregister()
    }

    private func sendAndWatch() async throws {
        let watch = DispatchWatch(target: target, measurements: measurements, stop: stop)
        try await withThrowingTaskGroup(of: Void.self) { group in
            if measurements.plan.waits { group.addTask { try await watch.run() } }
            do {
                try await LoadSender(target: target, measurements: measurements, stop: stop).run()
            } catch let failure as CommandFailure {
                guard measurements.update({ $0.accepted.count > 0 }) else { throw failure }
                measurements.note(problem: failure.message)
            }
            try await group.waitForAll()
        }
    }
}

/// Sends the requests of a load test, with one worker per concurrent request.
struct LoadSender: Sendable {
    /// Avoids a busy loop while the service is unreachable.
    static let pauseAfterFailure = Duration.milliseconds(100)

    let target: any LoadTarget
    let measurements: LoadMeasurements
    let stop: StopRequest
    /// After a stop request the requests in flight have this time for their responses.
    var patienceAfterStop = Duration.seconds(10)

    private enum Ending {
        case worker
        case patience
    }

    /// Returns when all requests have responses, or after a stop request, when the requests in flight have them or
    /// their time is over.
    ///
    /// - Throws: if the service refuses the requests of this test.
    func run() async throws {
        let start = ContinuousClock.now
        measurements.begin(at: start)
        defer { measurements.endSending(at: .now) }
        try await withThrowingTaskGroup(of: Ending.self) { group in
            for _ in 0..<measurements.plan.concurrency {
                group.addTask {
                    try await work(from: start)
                    return .worker
                }
            }
            group.addTask { try await outlastPatience() }
            defer { group.cancelAll() }
            var working = measurements.plan.concurrency
            while working > 0, try await group.next() == .worker { working -= 1 }
        }
    }

    /// Ends some time after a stop request.
    private func outlastPatience() async throws -> Ending {
        while !stop.isRequested { try await Task.sleep(for: .milliseconds(50)) }
        try await Task.sleep(for: patienceAfterStop)
        return .patience
    }

    private func work(from start: ContinuousClock.Instant) async throws {
        while !stop.isRequested, let ticket = measurements.take() {
            var began = ContinuousClock.now
            if let offset = ticket.start {
                let intended = start + offset
                guard try await wait(until: intended) else { return }
                began = intended
            }
            guard measurements.startRequest(ticket.notifications.count) else { return }
            var failed = false
            let measurements = measurements
            let time = began
            try await target.push(ticket.notifications) { notification, result in
                measurements.record(notification, result, start: time)
                if case .failed = result { failed = true }
            }
            if failed { try await Task.sleep(for: LoadSender.pauseAfterFailure) }
        }
    }

    /// - Returns: false if the test is stopped before that time.
    private func wait(until time: ContinuousClock.Instant) async throws -> Bool {
        while true {
            let left = time - .now
            if left <= .zero { return true }
            // Sleeps in steps, so that a stop is noticed during long waits.
            try await Task.sleep(for: min(left, .milliseconds(200)), tolerance: .zero)
            if stop.isRequested { return false }
        }
    }
}

/// The result of sending one notification.
enum PushResult: Sendable, Equatable {
    case accepted(NotificationID)
    /// With the reason to count: a status (`503`) or words (`no answer in time`).
    case failed(String)
}

/// The state of a notification.
struct PushedState: Sendable, Equatable {
    var createdAt: Timestamp
    var status: NotificationStatus
    /// When the hub accepted the push for the last platform.
    var sentAt: Timestamp?
}

/// A page of the sender's notifications, newest first.
struct PushedPage: Sendable, Equatable {
    var notifications: [(id: NotificationID, status: NotificationStatus)]
    /// The start of the next page.
    var next: NotificationID?

    static func == (lhs: PushedPage, rhs: PushedPage) -> Bool {
        lhs.next == rhs.next && lhs.notifications.elementsEqual(rhs.notifications, by: ==)
    }
}

/// The ingest service, or a fake in tests.
protocol LoadTarget: Sendable {
    /// Sends notifications in one request and reports each result as soon as it is known.
    ///
    /// - Throws: if the service refuses the request and would refuse every other one too.
    func push(_ notifications: Range<Int>, report: @escaping (Int, PushResult) -> Void) async throws

    func state(of id: NotificationID) async throws -> PushedState

    /// - Parameter id: only notifications older than this one.
    func page(before id: NotificationID?) async throws -> PushedPage
}

extension NotificationStatus {
    /// Whether the dispatch is complete.
    var isFinal: Bool { self != .accepted && self != .queued }
}

/// The progress of a load test.
struct LoadProgress: Sendable {
    enum Phase: Sendable, Equatable {
        case preparing
        case sending
        /// Everything is sent, but not dispatched yet.
        case dispatching
        /// Everything is dispatched, but not read by the devices yet.
        case reading
    }

    var phase: Phase
    var total: Int
    var accepted: Int
    var failed: Int
    /// Since sending began.
    var elapsed: Duration
    var rate: Int?
    /// Notifications whose dispatch is not complete; `nil` if not counted yet.
    var pending: Int?
    /// Notifications whose dispatch is complete, estimated from the samples until they are counted.
    var dispatched = 0
    /// Samples whose dispatch is complete, and all samples.
    var samples: (ended: Int, all: Int) = (0, 0)
    var reads: (done: Int, expected: Int) = (0, 0)

    /// - Parameter stride: one notification in this many is a sample.
    init(_ state: LoadMeasurements.State, plan: LoadPlan, stride: Int, now: ContinuousClock.Instant) {
        total = plan.count
        rate = plan.rate
        accepted = state.ids.count
        failed = state.failed
        elapsed = state.began.map { (state.ended ?? now) - $0 } ?? .zero
        pending = state.dispatch.pending
        // The last sample can be one outside of the stride.
        let left = state.dispatch.pending ?? (state.ids.count - state.dispatch.seen.count * stride)
        dispatched = state.ids.count - max(0, left)
        samples = (state.dispatch.seen.count, state.dispatch.seen.count + state.samples.count)
        reads = (state.reads.latency.count, state.reads.expected)
        phase =
            if state.began == nil { .preparing } else if state.ended == nil {
                .sending
            } else if pending == 0 && plan.devices > 0 { .reading } else { .dispatching }
    }

    init(phase: Phase, total: Int, accepted: Int, failed: Int = 0, elapsed: Duration, rate: Int? = nil) {
        self.phase = phase
        self.total = total
        self.accepted = accepted
        self.failed = failed
        self.elapsed = elapsed
        self.rate = rate
    }

    /// One line: `sending  12,345 of 100,000  12%  4,980/s  18 s left`.
    var line: String {
        let faults = failed > 0 ? "  \(failed.grouped) failed" : ""
        switch phase {
        case .preparing: return "preparing  registering devices"
        case .sending: return "sending  " + share(accepted + failed, total) + speed + faults + timeLeft
        case .dispatching:
            if let pending { return "counting  \(pending.grouped) of \(accepted.grouped) not dispatched yet" + faults }
            return "dispatching  \(percent(samples.ended, samples.all)) of the samples" + faults
        case .reading: return "reading  " + share(reads.done, reads.expected)
        }
    }

    private var perSecond: Double {
        elapsed > .zero ? Double(accepted) / elapsed.inSeconds : 0
    }

    /// `  4,980/s`
    var speed: String { "  \(perSecond.figure)/s" }

    private var timeLeft: String {
        let left = total - accepted - failed
        let all = elapsed > .zero ? Double(accepted + failed) / elapsed.inSeconds : 0
        guard left > 0, all > 0 else { return "" }
        let seconds = Int((Double(left) / all).rounded(.up))
        return "  \(seconds < 10 ? "\(seconds) s" : Duration.seconds(seconds).spoken) left"
    }

    private func share(_ part: Int, _ whole: Int) -> String {
        "\(part.grouped) of \(whole.grouped)  \(percent(part, whole))"
    }

    private func percent(_ part: Int, _ whole: Int) -> String { whole > 0 ? "\(part * 100 / whole)%" : "0%" }
}

/// Asks a test to end early and keep its results. Cancellation would lose the requests in flight.
final class StopRequest: Sendable {
    private let requested = Atomic<Bool>(false)

    var isRequested: Bool { requested.load(ordering: .relaxed) }

    /// - Returns: whether it is the first request.
    @discardableResult
    func request() -> Bool { !requested.exchange(true, ordering: .relaxed) }
}
