import Dispatch
import Synchronization

/// Looks at a file again and again, on a thread of its own: a slow file, or a file system that does not answer, delays
/// nobody else. Ends when it is released.
package final class FileWatch: Sendable {
    /// The time between two looks. A change has an effect within a second, with the time that reading takes.
    package static let interval = Duration.milliseconds(400)
    /// How long ``look()`` waits for a look to end.
    package static let patience = Duration.seconds(1)

    /// The callers who wait for one look.
    private final class Look: Sendable {
        /// `nil` once it has ended, or once nobody waits for it any more.
        private let callers = Mutex<[CheckedContinuation<Bool, Never>]?>([])

        func join(_ caller: CheckedContinuation<Bool, Never>) {
            let isOver = callers.withLock { callers in
                callers?.append(caller)
                return callers == nil
            }
            if isOver { caller.resume(returning: false) }
        }

        func end(isComplete: Bool) {
            let all = callers.withLock { callers in
                defer { callers = nil }
                return callers ?? []
            }
            for caller in all { caller.resume(returning: isComplete) }
        }
    }

    private let queue: DispatchQueue
    private let body: @Sendable () -> Void
    /// The look that is queued and has not begun; everybody who asks meanwhile waits for it.
    private let next = Mutex<Look?>(nil)

    /// - Parameter body: looks at the file. One call at a time.
    package init(_ label: String, _ body: @escaping @Sendable () -> Void) {
        queue = DispatchQueue(label: label)
        self.body = body
    }

    /// Begins to look, the first time after ``interval``.
    package func start() {
        queue.asyncAfter(deadline: .now() + Self.interval.dispatchInterval) { [weak self] in
            guard let self else { return }
            body()
            start()
        }
    }

    /// Looks soon, without waiting for it.
    package func request() { _ = nextLook() }

    /// Looks, and waits until that has ended: for ``patience`` at most in all, whoever asks, while an earlier look does
    /// not end.
    package func look() async {
        _ = await withCheckedContinuation { caller in nextLook().join(caller) }
    }

    /// Looks for this caller alone, and waits until that has ended.
    ///
    /// - Returns: whether the look has ended within the time.
    package func look(within time: Duration) async -> Bool {
        let look = Look()
        return await withCheckedContinuation { caller in
            look.join(caller)
            begin(look, within: time)
        }
    }

    private func nextLook() -> Look {
        let (look, isNew) = next.withLock { next in
            if let next { return (next, false) }
            let look = Look()
            next = look
            return (look, true)
        }
        if isNew { begin(look, within: Self.patience) }
        return look
    }

    private func begin(_ look: Look, within time: Duration) {
        queue.async { [self] in
            next.withLock { if $0 === look { $0 = nil } }
            body()
            look.end(isComplete: true)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + time.dispatchInterval) { look.end(isComplete: false) }
    }
}

extension Duration {
    /// At most a day.
    fileprivate var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = min(self, .seconds(86_400)).components
        return .milliseconds(Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
