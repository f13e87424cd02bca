/// Reads each dead letter once that is in the queue at the start. Ignores those that arrive later.
package struct DeadLetterScan: Sendable {
    package let queue: any DeadLetterQueue
    /// Called after each dead letter.
    package let progress: @Sendable (_ done: Int, _ total: Int) -> Void

    package init(
        queue: any DeadLetterQueue,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) {
        self.queue = queue
        self.progress = progress
    }

    /// - Parameter body: receives a dead letter; `false` ends the scan.
    /// - Returns: the number of dead letters in the queue.
    @discardableResult
    package func run(_ body: (DeadLetter) async throws -> Bool) async throws -> Int {
        let total = try await queue.count()
        var done = 0
        while done < total, let letter = try await queue.next() {
            try Task.checkCancellation()
            done += 1
            progress(done, total)
            guard try await body(letter) else { break }
        }
        return total
    }

    /// The first `limit` dead letters that match.
    package func letters(
        _ limit: Int = .max, where matches: (DeadLetter) -> Bool
    ) async throws -> (letters: [DeadLetter], total: Int) {
        var letters: [DeadLetter] = []
        let total = try await run { letter in
            if matches(letter) { letters.append(letter) }
            return letters.count < limit
        }
        return (letters, total)
    }
}
