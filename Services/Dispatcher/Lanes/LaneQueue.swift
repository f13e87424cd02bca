/// First in, first out, of what waits for a slot of a lane; memory is kept for the next burst.
struct LaneQueue: Sendable {
    struct Waiting: Sendable {
        var send: LaneSend
        var since: LaneClock.Instant
    }

    private var elements: [Waiting?] = []
    private var head = 0

    var count: Int { elements.count - head }

    /// Since when the first waits.
    var oldest: LaneClock.Instant? { head < elements.count ? elements[head]?.since : nil }

    mutating func append(_ send: LaneSend, now: LaneClock.Instant) {
        elements.append(Waiting(send: send, since: now))
    }

    mutating func popFirst() -> LaneSend? {
        guard head < elements.count, let first = elements[head] else { return nil }
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024 {
            // Taken off in bulk, so that a queue that never empties does not grow.
            elements.removeFirst(head)
            head = 0
        }
        return first.send
    }

    mutating func takeAll() -> [LaneSend] {
        defer {
            elements.removeAll(keepingCapacity: true)
            head = 0
        }
        return elements[head...].compactMap { $0?.send }
    }
}
