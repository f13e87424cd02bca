package import Foundations

/// The result of one poll of a process.
package struct ProcessPoll: Sendable {
    package var readiness: Readiness
    /// `nil` if the process did not tell them.
    package var samples: PrometheusSamples?
    package var time: ContinuousClock.Instant

    package init(readiness: Readiness, samples: PrometheusSamples? = nil, time: ContinuousClock.Instant = .now) {
        self.readiness = readiness
        self.samples = samples
        self.time = time
    }

    /// Asks a process for `/metrics` and `/readyz`.
    ///
    /// - Parameter get: the status and the body of the answer at a path.
    /// - Throws: the errors of `get`.
    package init(_ get: (String) async throws -> (status: Int, body: String)) async throws {
        let metrics = try await get("/metrics")
        time = .now
        samples = (200..<300).contains(metrics.status) ? PrometheusSamples(metrics.body) : nil
        let answer = try await get("/readyz")
        readiness = Readiness(status: answer.status, body: answer.body)
    }
}

/// A process as its last polls show it.
package struct ProcessState: Sendable {
    package private(set) var last: ProcessPoll
    /// The last two polls; `nil` if the last one brought no metrics.
    package private(set) var window: MetricsWindow?
    /// As a poll told it last.
    package private(set) var version: String?
    /// Since when it is as ``Readiness/state`` says.
    package private(set) var since: Timestamp

    package init(_ poll: ProcessPoll, at now: Timestamp = .now) {
        (last, since) = (poll, now)
        look(before: nil, seconds: 0)
    }

    package mutating func note(_ poll: ProcessPoll, at now: Timestamp = .now) {
        let before = last
        last = poll
        if before.readiness.state != poll.readiness.state { since = now }
        look(before: before.samples, seconds: before.time.duration(to: poll.time) / .seconds(1))
    }

    private mutating func look(before: PrometheusSamples?, seconds: Double) {
        window = last.samples.map { MetricsWindow(before: before, after: $0, seconds: seconds) }
        version = last.samples?["securepush_build_info"].first?.labels["version"] ?? version
    }

    package var readiness: Readiness { last.readiness }

    /// In bytes; `nil` for a number that JSON cannot hold (NaN, infinity): metrics can have any number.
    package var residentMemory: Double? {
        last.samples?.sum("process_resident_memory_bytes").flatMap { $0.isFinite ? $0 : nil }
    }

    /// 100 is one core.
    package var cpuPercent: Double? {
        guard let rate = window?.rate("process_cpu_seconds_total"), rate.isFinite else { return nil }
        return (rate * 1000).rounded() / 10
    }

    package var startedAt: Timestamp? {
        let seconds = last.samples?.sum("process_start_time_seconds").flatMap { Int64(exactly: $0.rounded()) }
        guard let seconds, (0..<253_402_300_800).contains(seconds) else { return nil }
        return Timestamp(milliseconds: seconds * 1000)
    }
}
