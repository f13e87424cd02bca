import DequeModule

/// Deliveries that are being published elsewhere, each acknowledged only once its copy is confirmed.
struct MoveStateMachine {
    struct Outcome: Hashable, Sendable {
        var deliveryTag: UInt64
        /// Whether the copy is safe: then the delivery is acknowledged, else given back.
        var isMoved: Bool
    }

    private struct Move {
        var publishTag: UInt64
        var deliveryTag: UInt64
        var message: AMQPMessage
        var isReturned = false
    }

    private var moves: Deque<Move> = []
    private var nextTag: UInt64 = 1

    var isEmpty: Bool { moves.isEmpty }

    /// A copy is about to be written.
    mutating func publishing(_ message: AMQPMessage, of deliveryTag: UInt64) {
        moves.append(Move(publishTag: nextTag, deliveryTag: deliveryTag, message: message))
        nextTag += 1
    }

    mutating func returned(_ message: AMQPMessage) {
        let index = moves.firstIndex {
            !$0.isReturned && $0.message.body == message.body && $0.message.exchange == message.exchange
                && $0.message.messageID == message.messageID
        }
        if let index { moves[index].isReturned = true }
    }

    mutating func confirmed(tag: UInt64, isMultiple: Bool, isRefusal: Bool) -> [Outcome] {
        var outcomes: [Outcome] = []
        moves.removeAll { move in
            guard move.publishTag == tag || isMultiple && (tag == 0 || move.publishTag < tag) else { return false }
            outcomes.append(Outcome(deliveryTag: move.deliveryTag, isMoved: !isRefusal && !move.isReturned))
            return true
        }
        return outcomes
    }
}
