import Domain
import Foundations

struct LoadRun: Sendable {
    let target: any LoadTarget
    let measurements: LoadMeasurements
    let stop: StopRequest
    var fleet: DeviceFleet?

    /// - Throws: if nothing could be measured. Later errors become problems in the measurements.
    func run() async throws {
        guard let fleet else { return try await sendAndWatch() }
        try await fleet.run {
            try await waitUntilListening(fleet.devices.count)
            try await sendAndWatch()
            if measurements.plan.waits { try await waitUntilRead() }
        }
    }

    /// - Throws: ``CommandFailure`` with code `unreachable` if a device has no push channel within 30 s.
    private func waitUntilListening(_ devices: Int) async throws {
        let quiet = Quiet(limit: .seconds(30))
        while !stop.isRequested, measurements.update({ $0.reads.openedChannels }) < devices {
            if quiet.isOver {
                throw CommandFailure(.unreachable, "The hub emulator did not open all push channels within 30 s.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until the devices have shown everything accepted for their users, or the drain timeout expires.
    private func waitUntilRead() async throws {
        var quiet = Quiet(limit: measurements.plan.drainTimeout)
        var last = 0
        while !stop.isRequested {
            let (missing, done) = measurements.update { ($0.reads.missing, $0.reads.latency.count) }
            if missing == 0 || quiet.isOver { return }
            if done > last {
                last = done
                quiet.reset()
            }
            try await Task.sleep(for: .milliseconds(50))
        }
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

    /// Returns when all requests have responses, or after a stop request, when the requests in flight have them or
    /// their time is over.
    ///
    /// - Throws: if the service refuses the requests of this test.
    func run() async throws {
        let start = ContinuousClock.now
        measurements.begin(at: start)
        defer { measurements.endSending(at: .now) }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<measurements.plan.concurrency {
                group.addTask {
                    try await work(from: start)
                    return true
                }
            }
            group.addTask {
                while !stop.isRequested { try await Task.sleep(for: .milliseconds(50)) }
                try await Task.sleep(for: patienceAfterStop)
                return false
            }
            defer { group.cancelAll() }
            var working = measurements.plan.concurrency
            while working > 0, try await group.next() == true { working -= 1 }
        }
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

enum PushResult: Sendable, Equatable {
    case accepted(NotificationID)
    /// With the reason to count: a status (`503`) or words (`no answer in time`).
    case failed(String)
}

struct PushedState: Sendable, Equatable {
    var createdAt: Timestamp
    var status: NotificationStatus
    /// When the hub accepted the push for the last platform.
    var sentAt: Timestamp?
}

/// A page of the sender's notifications, newest first.
struct PushedPage: Sendable {
    var notifications: [(id: NotificationID, status: NotificationStatus)]
    var next: NotificationID?
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
    var isFinal: Bool { self != .accepted && self != .queued }
}
