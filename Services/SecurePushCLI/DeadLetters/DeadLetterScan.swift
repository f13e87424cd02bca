import SecurePushCore

/// Goes once through the letters that are there at the start; those that come meanwhile are another time's.
struct DeadLetterScan: Sendable {
    let queue: any DeadLetterQueue
    /// Told of each letter looked at: how many so far, and of how many.
    var progress: @Sendable (_ looked: Int, _ total: Int) -> Void = { _, _ in }

    /// - Parameter body: takes a letter; `false` ends the scan.
    /// - Returns: how many letters there were.
    @discardableResult
    func run(_ body: (DeadLetter) async throws -> Bool) async throws -> Int {
        let total = try await queue.count()
        var looked = 0
        while looked < total, let letter = try await queue.next() {
            try Task.checkCancellation()
            looked += 1
            progress(looked, total)
            guard try await body(letter) else { break }
        }
        return total
    }

    /// The first `limit` letters of those that are meant.
    func letters(_ limit: Int, where isMeant: (DeadLetter) -> Bool) async throws -> (letters: [DeadLetter], total: Int)
    {
        var letters: [DeadLetter] = []
        if limit < 1 { return ([], try await queue.count()) }
        let total = try await run { letter in
            if isMeant(letter) { letters.append(letter) }
            return letters.count < limit
        }
        return (letters, total)
    }
}
