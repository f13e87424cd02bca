import Synchronization

/// Where any thread leaves sends for a lane's event loop. The first into an empty box is told to wake the loop; those
/// that follow before the loop has come cost no wake-up.
final class HubMailbox: Sendable {
    enum Reception { case wakeUp, queued, closed }

    private struct Box {
        var sends: [HubSend] = []
        var isAwaited = false
        var isClosed = false
    }

    private let box = Mutex(Box())

    func put(_ send: HubSend) -> Reception {
        box.withLock { box in
            if box.isClosed { return .closed }
            box.sends.append(send)
            if box.isAwaited { return .queued }
            box.isAwaited = true
            return .wakeUp
        }
    }

    /// Gives all that is there for an empty array, whose memory the box goes on to use.
    func take(into sends: inout [HubSend]) {
        // Taken out of the inout first: the closure may not capture it.
        let empty = sends
        sends = box.withLock { box in
            let taken = box.sends
            box.sends = empty
            box.isAwaited = false
            return taken
        }
    }

    /// Takes no more.
    func close() { box.withLock { $0.isClosed = true } }
}
