import SecurePushCore
import Synchronization

/// One load test from its beginning to its end.
struct LoadRun: Sendable {
    let target: any LoadTarget
    let ledger: LoadLedger
    let stop: StopRequest
    /// The simulated devices, if there are any.
    var devices: LoadDevices?

    /// - Throws: when nothing could be measured; otherwise the ledger tells what could not.
    func run() async throws {
        guard let devices else { return try await sendAndWatch() }
        try await devices.register()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await devices.listen() }
                try await devices.connected()
                try await sendAndWatch()
                if ledger.plan.waits { try await devices.finished(stop) }
                group.cancelAll()
            }
        } catch {
            await devices.unregister()
            throw error
        }
        await devices.unregister()
    }

    private func sendAndWatch() async throws {
        let watch = DispatchWatch(target: target, ledger: ledger, stop: stop)
        try await withThrowingTaskGroup(of: Void.self) { group in
            if ledger.plan.waits { group.addTask { try await watch.run() } }
            do {
                try await LoadSender(target: target, ledger: ledger, stop: stop).run()
            } catch let failure as CommandFailure {
                guard ledger.update({ $0.accepted.count > 0 }) else { throw failure }
                ledger.note(problem: failure.message)
            }
            try await group.waitForAll()
        }
    }
}

/// Sends a load test's requests: as many workers as requests may be under way.
struct LoadSender: Sendable {
    /// After a request that failed, so that a service that is away is not hammered.
    static let pauseAfterFailure = Duration.milliseconds(100)

    let target: any LoadTarget
    let ledger: LoadLedger
    let stop: StopRequest

    /// Returns when all were sent and answered, or the stop was requested and those under way were answered.
    ///
    /// - Throws: why the service refuses what the test sends.
    func run() async throws {
        let start = ContinuousClock.now
        ledger.begin(at: start)
        defer { ledger.endSending(at: .now) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<ledger.plan.concurrency { group.addTask { try await work(from: start) } }
            try await group.waitForAll()
        }
    }

    private func work(from start: ContinuousClock.Instant) async throws {
        while !stop.isRequested, let ticket = ledger.take() {
            var began = ContinuousClock.now
            if let offset = ticket.start {
                let intended = start + offset
                guard try await wait(until: intended) else { return }
                began = intended
            }
            var failed = false
            let ledger = ledger
            let time = began
            try await target.push(ticket.notifications) { notification, result in
                ledger.record(notification, result, start: time)
                if case .failed = result { failed = true }
            }
            if failed { try await Task.sleep(for: LoadSender.pauseAfterFailure) }
        }
    }

    /// - Returns: false when the test is to stop before that time.
    private func wait(until time: ContinuousClock.Instant) async throws -> Bool {
        while true {
            let left = time - .now
            if left <= .zero { return true }
            // In steps, for a low rate may have to wait long.
            try await Task.sleep(for: min(left, .milliseconds(200)), tolerance: .zero)
            if stop.isRequested { return false }
        }
    }
}

/// What became of one notification that was pushed.
enum PushResult: Sendable, Equatable {
    case accepted(NotificationID)
    /// Not taken, with the reason that failures are counted by: a status (`503`), or words (`no answer in time`).
    case failed(String)
}

/// How far a notification has come, as its sender is told.
struct PushedState: Sendable, Equatable {
    var createdAt: Timestamp
    var status: NotificationStatus
    /// When the hub had taken it for the last platform that took it.
    var sentAt: Timestamp?
}

/// A page of the sender's notifications, newest first.
struct PushedPage: Sendable, Equatable {
    var notifications: [(id: NotificationID, status: NotificationStatus)]
    /// Where the next page begins.
    var next: NotificationID?

    static func == (lhs: PushedPage, rhs: PushedPage) -> Bool {
        lhs.next == rhs.next && lhs.notifications.elementsEqual(rhs.notifications, by: ==)
    }
}

/// The ingest service, as a load test uses it.
protocol LoadTarget: Sendable {
    /// Pushes notifications in one request, and reports each as soon as the answer tells.
    ///
    /// - Throws: when the service refuses the request for what it is; every other one would fare the same.
    func push(_ notifications: Range<Int>, report: @escaping (Int, PushResult) -> Void) async throws

    func state(of id: NotificationID) async throws -> PushedState

    /// - Parameter id: only older ones than this.
    func page(before id: NotificationID?) async throws -> PushedPage
}

extension NotificationStatus {
    /// Whether dispatching has nothing left to do.
    var isFinal: Bool { self != .accepted && self != .queued }
}

/// What a load test shows while it runs.
struct LoadProgress: Sendable {
    enum Phase: Sendable, Equatable {
        case preparing
        case sending
        /// Sent; what was accepted is on its way to the hub.
        case dispatching
        /// Dispatched; the devices read.
        case reading
    }

    var phase: Phase
    var total: Int
    var accepted: Int
    var failed: Int
    /// Since sending began.
    var elapsed: Duration
    var rate: Int?
    /// How many are not at the end of their dispatch; `nil` before they were counted.
    var pending: Int?
    /// Samples of the dispatch: how many have ended, and how many are looked at.
    var samples: (ended: Int, all: Int) = (0, 0)
    var reads: (done: Int, expected: Int) = (0, 0)

    init(_ state: LoadLedger.State, plan: LoadPlan, now: ContinuousClock.Instant) {
        total = plan.count
        rate = plan.rate
        accepted = state.ids.count
        failed = state.failed
        elapsed = state.began.map { (state.ended ?? now) - $0 } ?? .zero
        pending = state.dispatch.pending
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
        case .preparing: return "preparing  devices register"
        case .sending: return "sending  " + share(accepted + failed, total) + speed + faults + timeLeft
        case .dispatching:
            if let pending { return "counting  \(pending.grouped) of \(accepted.grouped) not counted yet" + faults }
            return "dispatching  \(percent(samples.ended, samples.all)) of the samples" + faults
        case .reading: return "reading  " + share(reads.done, reads.expected)
        }
    }

    private var perSecond: Double {
        elapsed > .zero ? Double(accepted) / elapsed.inSeconds : 0
    }

    private var speed: String { "  \(perSecond.figure)/s" }

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

/// Asks what runs to come to its end early, keeping what it has; cancelling would lose requests that are under way.
final class StopRequest: Sendable {
    private let requested = Atomic<Bool>(false)

    var isRequested: Bool { requested.load(ordering: .relaxed) }

    /// - Returns: whether it is the first request.
    @discardableResult
    func request() -> Bool { !requested.exchange(true, ordering: .relaxed) }
}
