import Synchronization

/// A bounded pipe between two stages of a batch: a slow stage slows down the stages before it.
///
/// The receiver gets everything that was sent since it last received, so it works in groups without a timer and a
/// single element is not delayed. There is one sender and one receiver.
final class BatchPipe<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var weight = 0
        var isFinished = false
        var waiting: [Side: CheckedContinuation<Void, Never>] = [:]
    }

    private enum Side { case sender, receiver }

    private enum Step<Value> { case done(Value), wait }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the weight at which the sender must wait; a single call may exceed it.
    init(limit: Int) { self.limit = limit }

    /// Sends elements; waits while the pipe is full.
    ///
    /// - Returns: whether the elements were sent; `false` if the task is cancelled.
    func send(_ elements: [Element], weight: Int) async -> Bool {
        await step(of: .sender) { state in
            guard state.weight < limit else { return .wait }
            state.elements.append(contentsOf: elements)
            state.weight += weight
            return .done(true)
        } whenCancelled: {
            false
        }
    }

    /// All elements that were sent, at least one; `nil` if the sender has finished and nothing is left, or if the task
    /// is cancelled.
    func receive() async -> [Element]? {
        await step(of: .receiver) { state in
            if state.elements.isEmpty { return state.isFinished ? .done(nil) : .wait }
            defer {
                state.elements = []
                state.weight = 0
            }
            return .done(state.elements)
        } whenCancelled: {
            nil
        }
    }

    /// Ends the pipe: no more elements follow.
    func finish() {
        let receiver = state.withLock { state in
            state.isFinished = true
            return state.waiting.removeValue(forKey: .receiver)
        }
        receiver?.resume()
    }

    /// Repeats a side's step until it is done, then wakes the other side.
    private func step<Value: Sendable>(
        of side: Side, _ step: (inout State) -> Step<Value>, whenCancelled: () -> Value
    ) async -> Value {
        while !Task.isCancelled {
            let (result, other) = state.withLock { state -> (Step<Value>, CheckedContinuation<Void, Never>?) in
                let result = step(&state)
                guard case .done = result else { return (result, nil) }
                return (result, state.waiting.removeValue(forKey: side == .sender ? .receiver : .sender))
            }
            other?.resume()
            if case .done(let value) = result { return value }
            await suspend(side)
        }
        return whenCancelled()
    }

    /// Waits until the other side has made a step. A spurious wake-up is harmless: the step is tried again.
    private func suspend(_ side: Side) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesAtOnce = state.withLock { state in
                    let canGoOn =
                        side == .sender ? state.weight < limit : state.isFinished || !state.elements.isEmpty
                    // Checked under the lock: a later cancellation finds the continuation.
                    if canGoOn || Task.isCancelled { return true }
                    state.waiting[side] = continuation
                    return false
                }
                if resumesAtOnce { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiting.removeValue(forKey: side) }
            continuation?.resume()
        }
    }
}
