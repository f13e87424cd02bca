package import Synchronization

/// A queue with many producers and one consumer, which takes all elements at once: the link between two stages of a
/// pipeline.
///
/// The consumer gets everything that has arrived since its last call, so that its next step handles a whole group. No
/// timer delays a single element. The mailbox itself is unbounded; each use of it has a bound of its own.
package final class Mailbox<Element: Sendable>: Sendable {
    @usableFromInline
    struct State {
        @usableFromInline var elements: [Element] = []
        @usableFromInline var isClosed = false
        @usableFromInline var taker: CheckedContinuation<Void, Never>?

        init() {}
    }

    @usableFromInline let state = Mutex(State())

    package init() {}

    /// Adds elements.
    ///
    /// - Returns: false if the mailbox is closed; the elements are dropped then.
    @discardableResult
    package func put(_ elements: some Sequence<Element>) -> Bool {
        add { $0.append(contentsOf: elements) }
    }

    /// Adds one element.
    ///
    /// - Returns: false if the mailbox is closed; the element is dropped then.
    @discardableResult @inlinable
    package func put(_ element: Element) -> Bool {
        add { $0.append(element) }
    }

    /// Inlinable, so that appending one element is specialised where it is called for each notification.
    @inlinable
    func add(_ append: (inout [Element]) -> Void) -> Bool {
        let (taker, isOpen) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            guard !state.isClosed else { return (nil, false) }
            append(&state.elements)
            return (state.elements.isEmpty ? nil : state.taker.take(), true)
        }
        taker?.resume()
        return isOpen
    }

    /// Takes all elements, at most `limit`, and waits while there is none.
    ///
    /// - Returns: `nil` if the mailbox is empty, and closed or the task is cancelled.
    /// - Precondition: there is one consumer at a time.
    package func take(limit: Int = .max) async -> [Element]? {
        while true {
            if let elements = takeNow(limit: limit) { return elements }
            if Task.isCancelled || state.withLock({ $0.isClosed }) { return takeNow(limit: limit) }
            await waitUntilNotEmpty()
        }
    }

    /// Waits for an element, for ``close()``, or for the cancellation of the task.
    private func waitUntilNotEmpty() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesAtOnce = state.withLock { state in
                    precondition(state.taker == nil, "A mailbox has one consumer.")
                    // Read under the lock: a later cancellation finds the continuation.
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

    /// Accepts no more elements. Those in the mailbox can still be taken.
    package func close() {
        let taker = state.withLock { state in
            state.isClosed = true
            return state.taker.take()
        }
        taker?.resume()
    }

    package var count: Int { state.withLock { $0.elements.count } }

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
