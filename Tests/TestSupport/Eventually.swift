/// Polls a condition until it holds, with a deadline: for tests that wait for another thread or process.
///
/// - Returns: whether the condition held before the deadline.
public func eventually(
    within deadline: Duration = .seconds(20), every interval: Duration = .milliseconds(10),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + deadline
    while ContinuousClock.now < end {
        if try await condition() { return true }
        try await Task.sleep(for: interval)
    }
    return try await condition()
}
