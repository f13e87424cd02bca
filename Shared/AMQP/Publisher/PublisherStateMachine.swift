import DequeModule

/// Which publish waits for which confirm.
///
/// Delivery tags are consecutive from 1 on each channel, and a batch is written whole before the next begins. So a ring
/// of slots finds a tag's batch, and the tag less the batch's first one its message. At most ``limit`` messages are in
/// flight; what is submitted past that waits its turn, and once as many wait, more is refused as full.
struct PublisherStateMachine<Waiter> {
    /// A publish call whose every result is known.
    struct Completion {
        var waiter: Waiter
        var results: [Result<Void, AMQPError>]
    }

    struct Batch {
        var serial: UInt64
        var messages: [AMQPMessage]
        /// `nil` once it was told its results; its slots may still be in flight.
        var waiter: Waiter?
        /// Success until known otherwise.
        var results: [Result<Void, AMQPError>]
        var firstTag: UInt64 = 0
        var written = 0
        var inFlight = 0
    }

    struct Slot {
        var batch = 0
        var isSettled = true
        var isReturned = false
    }

    struct Deadline {
        var batch: Int
        var serial: UInt64
        var time: ContinuousClock.Instant
    }

    let limit: Int
    var batches: [Batch?] = []
    var freeBatches: [Int] = []
    var serial: UInt64 = 0
    /// Batches that are not fully written, in order.
    var unwritten: Deque<Int> = []
    /// Messages that wait to be written.
    var waiting = 0
    var slots: [Slot]
    /// The oldest tag that is not settled; equal to ``nextTag`` when nothing is in flight.
    var oldestTag: UInt64 = 1
    var nextTag: UInt64 = 1
    /// Where the search for a returned message begins: returns come in the order of publishing.
    var returnCursor: UInt64 = 1
    var deadlines: Deque<Deadline> = []
    /// Since when each routing key's messages have been refused without one being confirmed.
    var refusedSince: [String: ContinuousClock.Instant] = [:]

    /// - Parameter limit: messages in flight; rounded up to a power of two.
    init(limit: Int) {
        var size = 1
        while size < limit { size *= 2 }
        self.limit = size
        slots = Array(repeating: Slot(), count: size)
    }

    var inFlight: Int { Int(nextTag - oldestTag) }
    var isIdle: Bool { waiting == 0 && inFlight == 0 }
    var canWrite: Bool { waiting > 0 && inFlight < limit }

    /// Takes a publish call; all of one caller's batches must have deadlines in order.
    ///
    /// - Returns: its completion, when it is refused or empty.
    mutating func submit(
        _ messages: [AMQPMessage], waiter: Waiter, deadline: ContinuousClock.Instant
    ) -> Completion? {
        guard !messages.isEmpty else { return Completion(waiter: waiter, results: []) }
        guard waiting < limit else {
            let error = AMQPError(.full, "\(waiting) messages wait to be published already")
            return Completion(waiter: waiter, results: messages.map { _ in .failure(error) })
        }
        serial += 1
        let batch = Batch(
            serial: serial, messages: messages, waiter: waiter,
            results: Array(repeating: .success(()), count: messages.count))
        let index = store(batch)
        unwritten.append(index)
        waiting += messages.count
        deadlines.append(Deadline(batch: index, serial: serial, time: deadline))
        return nil
    }

    private mutating func store(_ batch: Batch) -> Int {
        if let index = freeBatches.popLast() {
            batches[index] = batch
            return index
        }
        batches.append(batch)
        return batches.count - 1
    }

    /// The next message to write. Its waiter is registered under the next tag before it is written, so that a confirm
    /// can never come too early.
    mutating func nextToWrite() -> AMQPMessage? {
        guard canWrite, let index = unwritten.first, let position = batches[index]?.written else { return nil }
        let tag = nextTag
        nextTag += 1
        waiting -= 1
        if position == 0 { batches[index]?.firstTag = tag }
        batches[index]?.written = position + 1
        batches[index]?.inFlight += 1
        slots[Int(tag & UInt64(limit - 1))] = Slot(batch: index, isSettled: false)
        let message = batches[index]?.messages[position]
        if position + 1 == batches[index]?.messages.count { unwritten.removeFirst() }
        return message
    }
}
