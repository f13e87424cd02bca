import DequeModule

/// Which deliveries of one channel are settled, and how to tell the broker in few frames.
///
/// Delivery tags are consecutive from 1. What is acknowledged without a gap from the oldest delivery on leaves as one
/// `basic.ack` with multiple; the rest, ahead of a delivery that is still worked on, as one each.
struct AckStateMachine {
    enum Frame: Hashable, Sendable {
        case acknowledge(UInt64, isMultiple: Bool)
        case requeue(UInt64)
        case reject(UInt64)
    }

    private enum Slot { case outstanding, acknowledged, sent }

    private var slots: Deque<Slot> = []
    private var firstTag: UInt64 = 1
    private var acknowledged: [UInt64] = []
    private var givenBack: [UInt64] = []
    private var rejected: [UInt64] = []
    /// Deliveries that nobody has settled.
    private(set) var outstanding = 0

    var hasFrames: Bool { !acknowledged.isEmpty || !givenBack.isEmpty || !rejected.isEmpty }

    mutating func delivered(_ tag: UInt64) {
        guard tag >= firstTag + UInt64(slots.count) else { return }
        // No broker leaves tags out; were one to, they would count as settled.
        while tag > firstTag + UInt64(slots.count), slots.count < 1 << 16 { slots.append(.sent) }
        slots.append(.outstanding)
        outstanding += 1
    }

    /// Settles a delivery; one that is unknown or settled is ignored, for the broker closes the channel over it.
    mutating func acknowledge(_ tag: UInt64) {
        if settle(tag, as: .acknowledged) { acknowledged.append(tag) }
    }

    /// Gives a delivery back to its queue; as ``acknowledge(_:)`` otherwise.
    mutating func requeue(_ tag: UInt64) {
        if settle(tag, as: .sent) { givenBack.append(tag) }
    }

    /// Refuses a delivery, so that its queue dead-letters it; as ``acknowledge(_:)`` otherwise.
    mutating func reject(_ tag: UInt64) {
        if settle(tag, as: .sent) { rejected.append(tag) }
    }

    private mutating func settle(_ tag: UInt64, as slot: Slot) -> Bool {
        guard tag >= firstTag, tag - firstTag < UInt64(slots.count) else { return false }
        let index = Int(tag - firstTag)
        guard slots[index] == .outstanding else { return false }
        slots[index] = slot
        outstanding -= 1
        return true
    }

    /// The frames to write now, in this order: an acknowledgement of many must not cover what is to be given back.
    mutating func frames() -> [Frame] {
        var frames = givenBack.map { Frame.requeue($0) } + rejected.map { Frame.reject($0) }
        givenBack.removeAll(keepingCapacity: true)
        rejected.removeAll(keepingCapacity: true)
        guard !acknowledged.isEmpty else {
            trim { _ in }
            return frames
        }
        var last: UInt64?
        trim { last = $0 }
        if let last { frames.append(.acknowledge(last, isMultiple: true)) }
        for tag in acknowledged where tag >= firstTag {
            slots[Int(tag - firstTag)] = .sent
            frames.append(.acknowledge(tag, isMultiple: false))
        }
        acknowledged.removeAll(keepingCapacity: true)
        return frames
    }

    /// Forgets the settled deliveries before the oldest that is not, and tells the acknowledged ones among them.
    private mutating func trim(_ acknowledged: (UInt64) -> Void) {
        while let slot = slots.first, slot != .outstanding {
            if slot == .acknowledged { acknowledged(firstTag) }
            slots.removeFirst()
            firstTag += 1
        }
    }
}

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
