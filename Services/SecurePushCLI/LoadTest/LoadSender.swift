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
