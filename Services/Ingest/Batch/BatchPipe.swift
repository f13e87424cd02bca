import Foundations
import Synchronization

/// A bounded pipe between two stages of a batch: a slow stage slows down the stages before it.
///
/// The receiver gets everything that was sent since it last received, so it works in groups without a timer and a
/// single element is not delayed. There is one sender and one receiver.
///
/// Decision: docs/decisions/0010-batches-in-three-stages.md
final class BatchPipe<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var weight = 0
        var isFinished = false
        var sender = WaitList<Void>()
        var receiver = WaitList<Void>()
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the weight at which the sender must wait; a single call may exceed it.
    init(limit: Int) { self.limit = limit }

    /// Sends elements; waits while the pipe is full.
    ///
    /// - Returns: whether the elements were sent; `false` if the task is cancelled.
    func send(_ elements: [Element], weight: Int) async -> Bool {
        guard await mayGoOn(\.sender, { $0.weight < limit }) else { return false }
        let receiver = state.withLock { state in
            state.elements.append(contentsOf: elements)
            state.weight += weight
            return state.receiver.popFirst()
        }
        receiver?.resume()
        return true
    }

    /// All elements that were sent, at least one; `nil` if the sender has finished and nothing is left, or if the task
    /// is cancelled.
    func receive() async -> [Element]? {
        guard await mayGoOn(\.receiver, { $0.isFinished || !$0.elements.isEmpty }) else { return nil }
        let (elements, sender) = state.withLock { state in
            defer {
                state.elements = []
                state.weight = 0
            }
            return (state.elements, state.sender.popFirst())
        }
        sender?.resume()
        return elements.isEmpty ? nil : elements
    }

    /// Ends the pipe: no more elements follow.
    func finish() {
        let receiver = state.withLock { state in
            state.isFinished = true
            return state.receiver.popFirst()
        }
        receiver?.resume()
    }

    /// Waits until a side can make its step. Only the step itself takes that away again.
    ///
    /// - Returns: `false` if the task is cancelled.
    private func mayGoOn(
        _ side: any WritableKeyPath<State, WaitList<Void>> & Sendable, _ condition: (State) -> Bool
    ) async -> Bool {
        if Task.isCancelled { return false }
        return (try? await state.wait(in: side) { condition($0) ? () : nil }) != nil
    }
}
