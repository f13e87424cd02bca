import Synchronization

/// What is left for the consumer's thread without waiting for it.
final class SettlementMailbox: Sendable {
    struct Letter: Sendable {
        enum Kind { case acknowledge, requeue, reject }

        var kind: Kind
        var tag: UInt64
        var epoch: UInt64
    }

    struct Move: Sendable {
        var message: AMQPMessage
        var tag: UInt64
        var epoch: UInt64
    }

    struct Contents: Sendable {
        var letters: [Letter] = []
        /// Deliveries to be published elsewhere before they are acknowledged.
        var moves: [Move] = []
        /// Calls of `next` whose tasks were cancelled.
        var cancelled: [UInt64] = []

        var isEmpty: Bool { letters.isEmpty && moves.isEmpty && cancelled.isEmpty }
    }

    private let contents = Mutex(Contents())

    /// - Returns: whether the mailbox was empty, so that its owner must be woken.
    func put(_ body: (inout Contents) -> Void) -> Bool {
        contents.withLock { contents in
            let wasEmpty = contents.isEmpty
            body(&contents)
            return wasEmpty
        }
    }

    func takeAll() -> Contents {
        contents.withLock { contents in
            defer { contents = Contents() }
            return contents
        }
    }
}
