import Domain

/// Purges the rows of one kind, and skips those that the database refuses to change: rows that have expired after them
/// must not stay because of them.
struct PurgeSteps {
    /// How many rows were purged, and whether there may be more.
    typealias Done = (count: Int, isFull: Bool)
    /// Purges up to `limit` rows without the first `skip`, all or none.
    typealias Step = (_ limit: Int, _ skip: Int) async throws -> Done

    /// How many rows one step may have at first, and at most.
    let maxStep: Int
    /// The time between two steps. Cancelling it ends the purge with the count so far.
    let pause: Duration
    let step: Step

    /// More refused rows than this mean that nearly all are refused.
    private static var maxSkip: Int { 16 }

    /// - Returns: the number of rows, and why the database refused some.
    /// - Throws: any other error.
    func callAsFunction(limit: Int) async throws -> (count: Int, refusal: StorageError?) {
        var (count, size, skip) = (0, maxStep, 0)
        var refusal: StorageError?
        while count < limit, skip < Self.maxSkip {
            let asked = min(size, limit - count)
            do {
                let done = try await step(asked, skip)
                count += done.count
                guard done.isFull, (try? await Task.sleep(for: pause)) != nil else { break }
                size = min(size * 2, maxStep)
            } catch let error as StorageError where StorageError.isRefusal(error) {
                // A step without rows fails too if the statement is refused whatever the rows.
                if refusal == nil, (try? await step(0, 0)) == nil { return (count, error) }
                refusal = error
                if asked > 1 { size = asked / 2 } else { skip += 1 }
            }
        }
        return (count, refusal)
    }
}
