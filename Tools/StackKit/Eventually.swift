import Dispatch

/// How long a test waits for a process or a server: long enough for a machine that is busy with all the other tests of
/// a suite, which run at once, and with other work.
package let patience = Duration.seconds(180)

/// Polls a condition until it holds or the deadline passes.
///
/// - Returns: whether the condition held before the deadline.
package func eventually(
    within deadline: Duration = patience, every interval: Duration = .milliseconds(10),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + deadline
    while ContinuousClock.now < end {
        if try await condition() { return true }
        try await Task.sleep(for: interval)
    }
    return try await condition()
}

/// Waits, even in a cancelled task, where a polling loop with `Task.sleep` would spin.
package func pause(_ duration: Duration) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { continuation.resume() }
    }
}
