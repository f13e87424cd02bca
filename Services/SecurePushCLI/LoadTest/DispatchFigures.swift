import SecurePushCore

/// What is known of the dispatch of a load test's notifications.
struct DispatchFigures: Sendable, Equatable {
    /// From acceptance to the hub's answer for the last platform, by the services' own clocks; a sample.
    var latency = HdrHistogram()
    private(set) var seen: Set<NotificationID> = []
    private(set) var firstCreated: Timestamp?
    private(set) var lastCreated: Timestamp?
    private(set) var lastSent: Timestamp?
    /// How many have ended how, all of them counted; `nil` before that was done.
    var statuses: [NotificationStatus: Int]?
    /// Accepted and not at their end, as far as counted.
    var pending: Int?

    /// Takes a sample that is at its end.
    mutating func note(_ id: NotificationID, _ state: PushedState) {
        guard seen.insert(id).inserted else { return }
        firstCreated = min(firstCreated ?? state.createdAt, state.createdAt)
        lastCreated = max(lastCreated ?? state.createdAt, state.createdAt)
        guard let sentAt = state.sentAt else { return }
        lastSent = max(lastSent ?? sentAt, sentAt)
        latency.record((sentAt - state.createdAt).microseconds)
    }

    /// From the first acceptance to the last answer of the hub.
    var duration: Duration? {
        guard let firstCreated, let lastSent else { return nil }
        return max(.zero, lastSent - firstCreated)
    }

    /// From the last acceptance to the last answer of the hub: the backlog that was left when sending ended.
    var drain: Duration? {
        guard let lastCreated, let lastSent else { return nil }
        return max(.zero, lastSent - lastCreated)
    }

    /// How many reached the end of dispatching.
    var ended: Int { statuses?.values.reduce(0, +) ?? 0 }

    var perSecond: Double? {
        guard ended > 0, let duration, duration > .zero else { return nil }
        return Double(ended) / duration.inSeconds
    }
}

/// What the simulated devices of a load test have seen.
struct ReadFigures: Sendable, Equatable {
    /// From acceptance to the payload on the device.
    var latency = HdrHistogram()
    /// How many payloads the devices should read: those accepted for their users.
    var expected = 0
    /// Pushes of notifications that had been read before.
    var repeated = 0
    var failures: [String: Int] = [:]

    var missing: Int { max(0, expected - latency.count - failures.values.reduce(0, +)) }
}
