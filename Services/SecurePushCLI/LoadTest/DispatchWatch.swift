import Domain

/// Follows the notifications of a load test until they are dispatched.
///
/// While the test sends, it polls a few samples per second, which adds little load. The time of the dispatch comes
/// from the record, so the time of the poll does not matter. When all samples are final, it counts all notifications.
struct DispatchWatch: Sendable {
    static let maxSamples = 8
    /// The time for the count after a stop request.
    static let patienceAfterStop = Duration.seconds(5)

    let target: any LoadTarget
    let measurements: LoadMeasurements
    let stop: StopRequest
    var interval = Duration.milliseconds(250)

    func run() async throws {
        do {
            try await followSamples()
            if !stop.isRequested { try await countAll() }
            // Samples that became final during the count.
            if !stop.isRequested { try await pollRest() }
            if stop.isRequested { try await countOnce() }
        } catch let failure as CommandFailure {
            measurements.note(problem: "The dispatch was not measured completely: \(failure.message)")
        }
    }

    private func followSamples() async throws {
        var quiet = Quiet(limit: measurements.plan.drainTimeout)
        while !stop.isRequested {
            // Read before the samples are taken: a sample of the last request must not be missed.
            let isSending = measurements.update { $0.ended == nil }
            let ids = measurements.takeSamples(DispatchWatch.maxSamples)
            if ids.isEmpty && !isSending { return }
            let ended = try await poll(ids)
            if isSending || ended > 0 { quiet.reset() }
            if !isSending && quiet.isOver { return }
            if isSending || ended < ids.count { try await Task.sleep(for: interval) }
        }
    }

    /// The state at the end of an interrupted test: one look at each notification, as far as the time allows.
    private func countOnce() async throws {
        // What is in flight may still be accepted.
        while measurements.update({ $0.ended == nil }) { try await Task.sleep(for: .milliseconds(20)) }
        let end = ContinuousClock.now + DispatchWatch.patienceAfterStop
        var census = DispatchCensus(measurements.update { $0.ids })
        try await pass(&census, until: end)
        try await pollRest(until: end)
    }

    /// - Parameter end: no poll begins after it; `nil` for no limit.
    private func pollRest(until end: ContinuousClock.Instant? = nil) async throws {
        var left = measurements.update { $0.samples.count }
        while left > 0, end.map({ .now < $0 }) ?? true {
            let ids = measurements.takeSamples(min(left, DispatchWatch.maxSamples))
            left -= ids.count
            _ = try await poll(ids)
        }
    }

    /// - Returns: the number of samples that became final.
    private func poll(_ ids: [NotificationID]) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for id in ids {
                group.addTask {
                    do {
                        let state = try await target.state(of: id)
                        measurements.note(id, state)
                        return state.status.isFinal
                    } catch {
                        // Busy or unreachable: the sample is polled again.
                        guard CommandFailure(describing: error).code == .unreachable else { throw error }
                        measurements.putBack(id)
                        return false
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    private func countAll() async throws {
        var census = DispatchCensus(measurements.update { $0.ids })
        var quiet = Quiet(limit: measurements.plan.drainTimeout)
        // If samples are left, the drain timeout has expired already, so one pass is enough.
        let isGivenUp = measurements.update { !$0.samples.isEmpty }
        while true {
            let before = census.pending
            let start = ContinuousClock.now
            try await pass(&census)
            if census.pending == 0 || isGivenUp || stop.isRequested || quiet.isOver { return }
            if census.pending < before { quiet.reset() }
            // A longer list is read less often.
            try await Task.sleep(for: max(interval, (ContinuousClock.now - start) * 4))
        }
    }

    /// - Parameter end: no page is read after it; `nil` ends at a stop request.
    private func pass(_ census: inout DispatchCensus, until end: ContinuousClock.Instant? = nil) async throws {
        var cursor = census.start
        repeat {
            let page = try await target.page(before: cursor)
            census.take(page.notifications)
            cursor = page.next
        } while census.goesOn(before: cursor) && (end.map { .now < $0 } ?? !stop.isRequested)
        measurements.update { ($0.dispatch.statuses, $0.dispatch.pending) = (census.statuses, census.pending) }
    }
}

/// Measures the time without progress.
struct Quiet: Sendable {
    let limit: Duration
    private var since = ContinuousClock.now

    init(limit: Duration) { self.limit = limit }

    mutating func reset() { since = .now }
    var isOver: Bool { ContinuousClock.now - since > limit }
}

/// Counts the final statuses of all notifications of a load test, from pages of the sender's list, newest first.
///
/// The oldest are dispatched first, so each pass reads the list only from the newest pending notification to the
/// oldest. Ignores notifications of other tests.
struct DispatchCensus: Sendable {
    /// In ascending order.
    private let ids: [NotificationID]
    private var left: Set<NotificationID>
    private(set) var statuses: [NotificationStatus: Int] = [:]
    /// The indices of the oldest and the newest pending notification.
    private var oldest = 0
    private var newest: Int

    init(_ ids: [NotificationID]) {
        self.ids = ids.sorted()
        left = Set(ids)
        newest = ids.count - 1
    }

    var pending: Int { left.count }

    /// The start of a pass: the notification after the newest pending one; `nil` for the start of the list.
    var start: NotificationID? { newest + 1 < ids.count ? ids[newest + 1] : nil }

    /// Whether a pass must continue with notifications older than this ID.
    func goesOn(before id: NotificationID?) -> Bool {
        guard !left.isEmpty, let id else { return false }
        return id > ids[oldest]
    }

    mutating func take(_ page: [(id: NotificationID, status: NotificationStatus)]) {
        for (id, status) in page where status.isFinal && left.remove(id) != nil { statuses[status, default: 0] += 1 }
        while oldest < ids.count, !left.contains(ids[oldest]) { oldest += 1 }
        while newest >= 0, !left.contains(ids[newest]) { newest -= 1 }
    }
}
