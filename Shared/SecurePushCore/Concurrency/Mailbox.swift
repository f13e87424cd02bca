import Synchronization

/// What several put in and one takes out, all at once: the seam between two stages of a pipeline.
///
/// The taker gets whatever has come since it last looked, so that its next step serves a whole group; no timer delays
/// a lone element. The box is not bounded by itself: what bounds it is said where it is made.
public final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isClosed = false
        var taker: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    public init() {}

    /// Puts elements in; once the box is closed they are dropped and `false` is returned.
    @discardableResult
    public func put(_ elements: some Sequence<Element>) -> Bool {
        let (taker, isOpen) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            guard !state.isClosed else { return (nil, false) }
            state.elements.append(contentsOf: elements)
            return (state.elements.isEmpty ? nil : state.taker.take(), true)
        }
        taker?.resume()
        return isOpen
    }

    /// Takes all there is, at most `limit`, and waits while there is nothing.
    ///
    /// - Returns: `nil` once the box is closed and empty, or once the task is cancelled and the box is empty.
    /// - Precondition: there is one taker at a time.
    public func take(limit: Int = .max) async -> [Element]? {
        while true {
            if let elements = takeNow(limit: limit) { return elements }
            if Task.isCancelled || state.withLock({ $0.isClosed }) { return takeNow(limit: limit) }
            await untilSomethingHasCome()
        }
    }

    /// Waits for an element, for the end, or for the task's cancellation.
    private func untilSomethingHasCome() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesAtOnce = state.withLock { state in
                    precondition(state.taker == nil, "A mailbox has one taker.")
                    // Read under the lock: a cancellation that comes later finds the taker.
                    if state.isClosed || !state.elements.isEmpty || Task.isCancelled { return true }
                    state.taker = continuation
                    return false
                }
                if resumesAtOnce { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.taker.take() }?.resume()
        }
    }

    /// Lets nothing more in; what is in can still be taken.
    public func close() {
        let taker = state.withLock { state in
            state.isClosed = true
            return state.taker.take()
        }
        taker?.resume()
    }

    /// How many elements wait.
    public var count: Int { state.withLock { $0.elements.count } }

    private func takeNow(limit: Int) -> [Element]? {
        state.withLock { state in
            guard !state.elements.isEmpty else { return nil }
            if state.elements.count <= limit {
                defer { state.elements = [] }
                return state.elements
            }
            defer { state.elements.removeFirst(limit) }
            return Array(state.elements.prefix(limit))
        }
    }
}
