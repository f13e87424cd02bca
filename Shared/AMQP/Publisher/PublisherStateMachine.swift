import DequeModule

/// Which publish waits for which confirm.
///
/// Delivery tags are consecutive from 1 on each channel, and a batch is written whole before the next one begins. So a
/// ring of slots gives the batch of a tag, and the tag's distance from the batch's first tag gives the message. At most
/// ``limit`` messages are in flight. The same number may wait; beyond that messages are refused as full.
struct PublisherStateMachine<Waiter> {
    /// A publish call whose results are all known.
    struct Completion {
        var waiter: Waiter
        var results: [Result<Void, AMQPError>]
    }

    struct Batch {
        var serial: UInt64
        var messages: [AMQPMessage]
        /// `nil` once it got its results; its slots may still be in flight.
        var waiter: Waiter?
        /// Success until a failure is known.
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

    /// Where a message goes.
    struct Address: Hashable {
        var exchange: String
        var routingKey: String

        init(_ message: AMQPMessage) { (exchange, routingKey) = (message.exchange, message.routingKey) }
    }

    let limit: Int
    var batches: [Batch?] = []
    var freeBatches: [Int] = []
    var serial: UInt64 = 0
    /// Batches that are not fully written, in order.
    var unwritten: Deque<Int> = []
    /// The number of messages that wait to be written.
    var waiting = 0
    var slots: [Slot]
    /// The oldest tag that is not settled; equal to ``nextTag`` when nothing is in flight.
    var oldestTag: UInt64 = 1
    var nextTag: UInt64 = 1
    /// Where the search for a returned message begins: returns arrive in the order of publishing.
    var returnCursor: UInt64 = 1
    var deadlines: Deque<Deadline> = []
    /// Since when each routing key's messages have been refused without one being confirmed.
    var refusedSince: [String: ContinuousClock.Instant] = [:]
    /// The addresses whose messages were returned, without one being accepted since, with the time of the last return.
    var unroutable: [Address: ContinuousClock.Instant] = [:]
    /// How long a return counts. Perhaps nobody publishes to that address again.
    private static var returnLife: Duration { .seconds(60) }

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

    /// Accepts a publish call. Deadlines must not decrease from call to call.
    ///
    /// - Returns: the completion, if the call is refused or empty.
    mutating func submit(
        _ messages: [AMQPMessage], waiter: Waiter, deadline: ContinuousClock.Instant
    ) -> Completion? {
        guard !messages.isEmpty else { return Completion(waiter: waiter, results: []) }
        guard waiting < limit else {
            let error = AMQPError(.full, "\(waiting) messages are already waiting to be published")
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

    /// The next message to write. Its waiter is registered under the next tag before the message is written, so that a
    /// confirm can never arrive too early.
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

extension PublisherStateMachine {
    /// The broker has confirmed or refused a tag, or all up to it.
    mutating func confirmed(
        tag: UInt64, isMultiple: Bool, isRefusal: Bool, now: @autoclosure () -> ContinuousClock.Instant = .now
    ) -> [Completion] {
        // Tag 0 with multiple means all outstanding messages.
        let last = isMultiple && tag == 0 ? nextTag - 1 : tag
        guard last >= oldestTag, last < nextTag else { return [] }
        var completions: [Completion] = []
        for tag in (isMultiple ? oldestTag : last)...last {
            trackProblem(tag, isRefusal: isRefusal, now())
            settle(tag, isRefusal: isRefusal, into: &completions)
        }
        while oldestTag < nextTag, slots[slot(oldestTag)].isSettled { oldestTag += 1 }
        return completions
    }

    private func slot(_ tag: UInt64) -> Int { Int(tag & UInt64(limit - 1)) }

    /// Keeps ``refusedSince`` and ``unroutable``; costs nothing while no message is refused or returned.
    private mutating func trackProblem(
        _ tag: UInt64, isRefusal: Bool, _ now: @autoclosure () -> ContinuousClock.Instant
    ) {
        guard isRefusal || !refusedSince.isEmpty || !unroutable.isEmpty else { return }
        let slot = slots[slot(tag)]
        guard !slot.isSettled, let batch = batches[slot.batch] else { return }
        let message = batch.messages[Int(tag - batch.firstTag)]
        if !isRefusal, !slot.isReturned, !unroutable.isEmpty { unroutable[Address(message)] = nil }
        let key = message.routingKey
        if !isRefusal { refusedSince[key] = nil } else if refusedSince[key] == nil { refusedSince[key] = now() }
    }

    /// A routing key whose messages have all been refused for at least this long, if there is one.
    func keyRefused(for time: Duration, now: ContinuousClock.Instant) -> String? {
        guard !refusedSince.isEmpty else { return nil }
        return refusedSince.first { now - $0.value >= time }?.key
    }

    private mutating func settle(_ tag: UInt64, isRefusal: Bool, into completions: inout [Completion]) {
        let slot = slot(tag)
        guard !slots[slot].isSettled else { return }
        slots[slot].isSettled = true
        let index = slots[slot].batch
        guard let firstTag = batches[index]?.firstTag else { return }
        if isRefusal, !slots[slot].isReturned {
            let error = AMQPError(.nacked, "the broker refused the message (basic.nack)")
            batches[index]?.results[Int(tag - firstTag)] = .failure(error)
        }
        batches[index]?.inFlight -= 1
        finish(index, into: &completions)
    }

    /// Removes a batch that waits for no more confirms.
    private mutating func finish(_ index: Int, into completions: inout [Completion]) {
        guard let batch = batches[index], batch.inFlight == 0 else { return }
        guard batch.waiter == nil || batch.written == batch.messages.count else { return }
        if let waiter = batch.waiter { completions.append(Completion(waiter: waiter, results: batch.results)) }
        batches[index] = nil
        freeBatches.append(index)
    }

    /// No queue accepted a message. Its confirm follows and completes it as a failure.
    mutating func returned(
        _ message: AMQPMessage, reason: String, now: @autoclosure () -> ContinuousClock.Instant = .now
    ) {
        unroutable[Address(message)] = now()
        let start = min(max(returnCursor, oldestTag), nextTag)
        guard let tag = find(message, in: start..<nextTag) ?? find(message, in: oldestTag..<start) else { return }
        returnCursor = tag + 1
        let slot = slot(tag)
        slots[slot].isReturned = true
        let index = slots[slot].batch
        guard let firstTag = batches[index]?.firstTag else { return }
        let error = AMQPError(.returned, "no queue accepts \(message.exchange)/\(message.routingKey): \(reason)")
        batches[index]?.results[Int(tag - firstTag)] = .failure(error)
    }

    /// When the next return stops to count.
    var nextForgetting: ContinuousClock.Instant? {
        unroutable.values.min().map { $0 + Self.returnLife }
    }

    /// Forgets the addresses to which nothing was returned for long.
    mutating func forgetReturns(now: ContinuousClock.Instant) {
        if !unroutable.isEmpty { unroutable = unroutable.filter { now - $0.value < Self.returnLife } }
    }

    private func find(_ message: AMQPMessage, in tags: Range<UInt64>) -> UInt64? {
        tags.first { tag in
            let slot = slots[slot(tag)]
            guard !slot.isSettled, !slot.isReturned, let batch = batches[slot.batch] else { return false }
            let candidate = batch.messages[Int(tag - batch.firstTag)]
            return candidate.messageID == message.messageID && candidate.routingKey == message.routingKey
                && candidate.exchange == message.exchange && candidate.body == message.body
        }
    }
}

extension PublisherStateMachine {
    /// The earliest deadline of a publish that still waits.
    mutating func nextDeadline() -> ContinuousClock.Instant? {
        while let first = deadlines.first, !isOpen(first) { deadlines.removeFirst() }
        return deadlines.first?.time
    }

    /// The oldest message in flight, if it has run out of time and the messages after it fill the window, so that
    /// no more can be written.
    var stuckMessage: AMQPMessage? {
        guard waiting > 0, inFlight == limit else { return nil }
        let oldest = slots[slot(oldestTag)]
        guard !oldest.isSettled, let batch = batches[oldest.batch], batch.waiter == nil else { return nil }
        return batch.messages[Int(oldestTag - batch.firstTag)]
    }

    private func isOpen(_ deadline: Deadline) -> Bool {
        guard let batch = batches[deadline.batch] else { return false }
        return batch.serial == deadline.serial && batch.waiter != nil
    }

    /// Completes the publishes that have run out of time. Their written messages stay in flight until confirmed.
    mutating func expire(now: ContinuousClock.Instant, _ error: @autoclosure () -> AMQPError) -> [Completion] {
        var completions: [Completion] = []
        while let time = nextDeadline(), time <= now, let deadline = deadlines.popFirst() {
            abandon(deadline.batch, error(), into: &completions)
        }
        return completions
    }

    private mutating func abandon(_ index: Int, _ error: AMQPError, into completions: inout [Completion]) {
        guard var batch = batches[index], let waiter = batch.waiter else { return }
        for position in batch.messages.indices {
            guard position < batch.written else {
                batch.results[position] = .failure(error)
                continue
            }
            let slot = slots[slot(batch.firstTag + UInt64(position))]
            // A settled slot may belong to another message by now.
            let isMine = batch.firstTag + UInt64(position) >= oldestTag
            if isMine, !slot.isSettled, !slot.isReturned { batch.results[position] = .failure(error) }
        }
        completions.append(Completion(waiter: waiter, results: batch.results))
        if batch.written < batch.messages.count {
            waiting -= batch.messages.count - batch.written
            unwritten.removeAll { $0 == index }
        }
        batch.waiter = nil
        batches[index] = batch
        var none: [Completion] = []
        finish(index, into: &none)
    }

    /// The connection was lost: every waiting publish fails, and tags start again at 1.
    mutating func disconnected(_ error: AMQPError) -> [Completion] {
        var completions: [Completion] = []
        for index in batches.indices { abandon(index, error, into: &completions) }
        self = PublisherStateMachine(limit: limit)
        return completions
    }
}
