import DequeModule

/// Which deliveries of one channel are settled, and how to tell the broker in few frames.
///
/// Delivery tags are consecutive from 1. Acknowledgements without a gap from the oldest delivery on are sent as one
/// `basic.ack` with multiple. Those after a delivery that is still open are sent one by one, or they wait for it: each
/// frame costs a system call here, and at the broker a command in the log of a quorum queue.
struct AckStateMachine {
    enum Frame: Hashable, Sendable {
        case acknowledge(UInt64, isMultiple: Bool)
        case requeue(UInt64)
        case reject(UInt64)
    }

    private enum Slot { case outstanding, acknowledged, sent }

    /// The maximum of acknowledgements that wait for a delivery that is still open. They take up the prefetch.
    var maxWaiting = 0
    private var slots: Deque<Slot> = []
    private var firstTag: UInt64 = 1
    private var acknowledged: [UInt64] = []
    /// Acknowledgements that may wait.
    private var waiting: [UInt64] = []
    private var requeued: [UInt64] = []
    private var rejected: [UInt64] = []
    /// The number of deliveries that nobody has settled.
    private(set) var outstanding = 0

    var hasFrames: Bool { !acknowledged.isEmpty || !waiting.isEmpty || !requeued.isEmpty || !rejected.isEmpty }

    mutating func delivered(_ tag: UInt64) {
        guard tag >= firstTag + UInt64(slots.count) else { return }
        // No broker skips tags; if one did, the skipped tags would count as settled.
        while tag > firstTag + UInt64(slots.count), slots.count < 1 << 16 { slots.append(.sent) }
        slots.append(.outstanding)
        outstanding += 1
    }

    /// Settles a delivery. An unknown or settled one is ignored, because the broker would close the channel.
    mutating func settle(_ tag: UInt64, as kind: DeliverySettlement.Kind) {
        guard tag >= firstTag, tag - firstTag < UInt64(slots.count) else { return }
        let index = Int(tag - firstTag)
        guard slots[index] == .outstanding else { return }
        outstanding -= 1
        slots[index] = .acknowledged
        switch kind {
        case .acknowledge: acknowledged.append(tag)
        case .acknowledgeLater: waiting.append(tag)
        case .requeue:
            slots[index] = .sent
            requeued.append(tag)
        case .reject:
            slots[index] = .sent
            rejected.append(tag)
        }
    }

    /// The frames to write now, in this order: a `basic.ack` with multiple must not cover a delivery to be requeued.
    mutating func frames() -> [Frame] {
        var frames = requeued.map { Frame.requeue($0) } + rejected.map { Frame.reject($0) }
        requeued.removeAll(keepingCapacity: true)
        rejected.removeAll(keepingCapacity: true)
        var last: UInt64?
        trim { last = $0 }
        if let last {
            frames.append(.acknowledge(last, isMultiple: true))
            waiting.removeAll { $0 < firstTag }
        }
        if waiting.count > maxWaiting {
            acknowledged += waiting
            waiting.removeAll(keepingCapacity: true)
        }
        for tag in acknowledged where tag >= firstTag {
            slots[Int(tag - firstTag)] = .sent
            frames.append(.acknowledge(tag, isMultiple: false))
        }
        acknowledged.removeAll(keepingCapacity: true)
        return frames
    }

    /// Removes the settled deliveries before the oldest open one, and reports the acknowledged ones among them.
    private mutating func trim(_ acknowledged: (UInt64) -> Void) {
        while let slot = slots.first, slot != .outstanding {
            if slot == .acknowledged { acknowledged(firstTag) }
            slots.removeFirst()
            firstTag += 1
        }
    }
}
