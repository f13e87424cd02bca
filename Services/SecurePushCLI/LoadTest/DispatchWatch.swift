import SecurePushCore

/// Follows a load test's notifications to the end of their dispatch.
///
/// While sending goes on it looks at a few samples a second, which the service hardly feels: when something was
/// dispatched is read from the record itself, so it does not matter when one looks. Once the samples have ended
/// everything is counted.
struct DispatchWatch: Sendable {
    static let samplesAtOnce = 8

    let target: any LoadTarget
    let ledger: LoadLedger
    let stop: StopRequest
    var interval = Duration.milliseconds(250)

    func run() async throws {
        do {
            try await followSamples()
            if !stop.isRequested { try await countAll() }
            // Those that were given up, or came to their end during the count.
            if !stop.isRequested { try await lookAtRest() }
        } catch let failure as CommandFailure {
            ledger.note(problem: "The dispatch was not measured to its end: \(failure.message)")
        }
    }

    private func followSamples() async throws {
        var quiet = Quiet(limit: ledger.plan.drainTimeout)
        while !stop.isRequested {
            // What ends later is asked for later, so this comes before the samples are taken.
            let isSending = ledger.update { $0.ended == nil }
            let ids = ledger.takeSamples(DispatchWatch.samplesAtOnce)
            if ids.isEmpty && !isSending { return }
            let ended = try await look(at: ids)
            if isSending || ended > 0 { quiet.reset() }
            if !isSending && quiet.isOver { return }
            if isSending || ended < ids.count { try await Task.sleep(for: interval) }
        }
    }

    private func lookAtRest() async throws {
        var left = ledger.update { $0.samples.count }
        while left > 0 {
            let ids = ledger.takeSamples(min(left, DispatchWatch.samplesAtOnce))
            left -= ids.count
            _ = try await look(at: ids)
        }
    }

    /// - Returns: how many of them have ended.
    private func look(at ids: [NotificationID]) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for id in ids {
                group.addTask {
                    do {
                        let state = try await target.state(of: id)
                        ledger.note(id, state)
                        return state.status.isFinal
                    } catch {
                        // Busy or away for a moment: asked again.
                        guard CommandFailure(describing: error).code == .unreachable else { throw error }
                        ledger.putBack(id)
                        return false
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    private func countAll() async throws {
        var census = DispatchCensus(ledger.update { $0.ids })
        var quiet = Quiet(limit: ledger.plan.drainTimeout)
        // When the samples were given up, nothing has moved for long enough; one pass tells how much has.
        let isGivenUp = ledger.update { !$0.samples.isEmpty }
        while true {
            let before = census.pending
            let start = ContinuousClock.now
            try await pass(&census)
            ledger.update { [census] state in
                state.dispatch.statuses = census.statuses
                state.dispatch.pending = census.pending
            }
            if census.pending == 0 || isGivenUp || stop.isRequested || quiet.isOver { return }
            if census.pending < before { quiet.reset() }
            // A long list is read the less often.
            try await Task.sleep(for: max(interval, (ContinuousClock.now - start) * 4))
        }
    }

    private func pass(_ census: inout DispatchCensus) async throws {
        var cursor = census.start
        repeat {
            let page = try await target.page(before: cursor)
            census.take(page.notifications)
            cursor = page.next
        } while census.goesOn(before: cursor) && !stop.isRequested
    }
}

/// How long nothing has moved.
struct Quiet: Sendable {
    let limit: Duration
    private var since = ContinuousClock.now

    init(limit: Duration) { self.limit = limit }

    mutating func reset() { since = .now }
    var isOver: Bool { ContinuousClock.now - since > limit }
}

/// Counts how every notification of a load test has ended, from pages of the sender's list, newest first.
///
/// Dispatching goes by age, so what is pending is mostly the newest; each pass reads the list only from the newest
/// pending one to the oldest, and others' notifications in between count for nothing.
struct DispatchCensus: Sendable {
    /// In ascending order.
    private let ids: [NotificationID]
    private var isFinal: [Bool]
    private(set) var statuses: [NotificationStatus: Int] = [:]
    private(set) var pending: Int
    /// Where the pending ones begin and end.
    private var oldest = 0
    private var newest: Int

    init(_ ids: [NotificationID]) {
        self.ids = ids.sorted()
        isFinal = Array(repeating: false, count: ids.count)
        pending = ids.count
        newest = ids.count - 1
    }

    /// Where a pass begins: before the one that follows the newest pending one; `nil` is at the list's head.
    var start: NotificationID? { newest + 1 < ids.count ? ids[newest + 1] : nil }

    /// Whether a pass has to go on with what is older than this ID.
    func goesOn(before id: NotificationID?) -> Bool {
        guard pending > 0, let id else { return false }
        return id > ids[oldest]
    }

    mutating func take(_ page: [(id: NotificationID, status: NotificationStatus)]) {
        for (id, status) in page where status.isFinal {
            guard let index = index(of: id), !isFinal[index] else { continue }
            isFinal[index] = true
            pending -= 1
            statuses[status, default: 0] += 1
        }
        while oldest < ids.count, isFinal[oldest] { oldest += 1 }
        while newest >= 0, isFinal[newest] { newest -= 1 }
    }

    private func index(of id: NotificationID) -> Int? {
        var low = 0
        var high = ids.count
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < ids.count && ids[low] == id ? low : nil
    }
}
