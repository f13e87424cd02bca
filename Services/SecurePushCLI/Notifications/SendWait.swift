import ArgumentParser
import Foundations

/// `--wait` of `send`: asks for the status of the notifications until it is as wanted, cannot become so, or takes too
/// long.
struct SendWait: ParsableArguments {
    enum Goal: String, CaseIterable, ExpressibleByArgument { case dispatched, read, answered }

    /// The statuses are asked for one by one.
    static let maxRecipients = 100
    private static let interval = Duration.milliseconds(200)

    @Option(help: "Wait until every notification is dispatched to all platforms, read by a device, or answered.")
    var wait: Goal?

    @Option(
        help: ArgumentHelp(
            "With --wait: fail after this time, 1s to 24h (default: 30s; 5m for an answer).", valueName: "duration"))
    var waitTimeout: DurationArgument?

    /// How long it waits.
    var limit: Duration { waitTimeout?.duration ?? (wait == .answered ? .seconds(300) : .seconds(30)) }

    func validate() throws {
        if let waitTimeout { try requireRange("--wait-timeout", waitTimeout, .seconds(1) ... .seconds(86_400)) }
    }

    /// - Parameter asks: whether there are `--answers`.
    func validate(asks: Bool) throws {
        if wait == .answered, !asks { throw ValidationError("--wait answered needs --answers.") }
    }

    func check(_ recipients: Int) throws {
        if wait != nil, recipients > Self.maxRecipients {
            throw CommandFailure(.usage, "--wait can be used with \(Self.maxRecipients) recipients at most.")
        }
    }

    /// - Throws: ``CommandFailure`` with code `failed` that lists the notifications that are not as wanted.
    func run(_ ids: [String], _ client: APIClient, on console: Console) async throws {
        guard let goal = wait else { return }
        var failed: [String] = []
        let (waiting, took) = try await follow(ids, every: Self.interval, client) { id, status in
            let isReached = goal.isReached(by: status.status)
            if isReached == false { failed.append("\(id): \(status.status)") }
            return isReached != nil
        }
        guard waiting.isEmpty, failed.isEmpty else {
            let details = (failed + waiting).map(\.printable)
            throw CommandFailure(
                .failed, "\(details.count) of \(ids.count) notifications were not \(goal.rawValue) after \(took).",
                details: details, hint: Self.hint)
        }
        if !console.isJSON { console.message("\(goal.rawValue) after \(took)") }
    }

    static let hint = "They were sent. `securepush status ID` shows more."

    /// Asks for the statuses until all have come to their end, or ``limit`` is over.
    ///
    /// - Parameter isOver: whether a notification is not waited for any more.
    /// - Returns: those that are still waited for, with their statuses, and how long it took; both for people.
    func follow(
        _ ids: [String], every interval: Duration, _ client: APIClient,
        _ isOver: (_ id: String, _ status: Wire.Status) throws -> Bool
    ) async throws -> (waiting: [String], took: String) {
        let start = ContinuousClock.now
        var waiting = ids.map { (id: $0, status: "") }
        while true {
            var left: [(id: String, status: String)] = []
            for (id, _) in waiting {
                let path = "/api/notifications/\(PercentCoding.encode(id))/status"
                let status = try await client.get(path, as: Wire.Status.self).value
                if try !isOver(id, status) { left.append((id, status.status)) }
            }
            waiting = left
            if waiting.isEmpty || ContinuousClock.now - start >= limit { break }
            try await Task.sleep(for: interval)
        }
        return (waiting.map { "\($0.id): still \($0.status)" }, (ContinuousClock.now - start).spoken)
    }
}

extension SendWait.Goal {
    /// Whether a status is as wanted; `nil` if it can still become so.
    func isReached(by status: String) -> Bool? {
        switch (self, status) {
        // Answers are waited for elsewhere; no status tells of them.
        case (_, "read"), (.dispatched, "dispatched"): true
        case (_, "failed"), (_, "expired"), (_, "revoked"), (.dispatched, "partial"): false
        default: nil
        }
    }
}
