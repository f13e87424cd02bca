/// The dead letters of pushes that are in the queue now, held while their notifications are dispatched again. A new
/// failure's letter comes later, so it is not among them and stays.
package struct HeldDeadLetters: Sendable {
    private let queue: any DeadLetterQueue
    private var letters: [NotificationID: [DeadLetter]] = [:]

    /// - Parameters:
    ///   - ids: only those of these notifications; `nil` for all.
    ///   - limit: how many letters are read at most.
    package init(
        of ids: Set<NotificationID>? = nil, in queue: any DeadLetterQueue, reading limit: Int = .max
    ) async throws {
        self.queue = queue
        var read = 0
        try await DeadLetterScan(queue: queue).run { letter in
            read += 1
            // The letter of a withdrawal or reminder is not about the push.
            if let message = letter.message, message.kind == nil, ids?.contains(message.id) ?? true {
                letters[message.id, default: []].append(letter)
            }
            return read < limit
        }
    }

    /// Removes those of these notifications.
    ///
    /// - Returns: how many there were.
    package func remove(of ids: some Sequence<NotificationID>) async throws -> Int {
        var removed = 0
        for letter in ids.flatMap({ letters[$0] ?? [] }) {
            try await queue.remove(letter)
            removed += 1
        }
        return removed
    }
}
