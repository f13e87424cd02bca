import Hummingbird
import NIOCore
import Synchronization

/// Counts the requests in flight, and refuses those above the limit.
///
/// A request is in flight from its head until its answer has left the process, but not while its body is awaited: a
/// client must not be able to use up the permits by bodies that never end, or by answers that it does not read. So a
/// permit is paused while the next part of a body is awaited; ``WaitingBodies`` bounds those requests. And when answers
/// that wait for their clients take the last permits, the connection with most of them is closed.
final class InFlightRequests: Sendable {
    /// One request. It counts until ``end()`` or until the permit is released.
    final class Permit: Sendable {
        private enum State {
            case held
            /// Its body is awaited.
            case paused
            case ended
        }

        private let requests: InFlightRequests
        private let state = Mutex(State.held)
        private let isAnswering = Atomic(false)

        fileprivate init(_ requests: InFlightRequests) { self.requests = requests }

        deinit { end() }

        /// Ends the request; only the first call has an effect.
        func end() {
            let wasHeld = state.withLock { state in
                defer { state = .ended }
                return state == .held
            }
            if wasHeld { requests.count.subtract(1, ordering: .relaxed) }
        }

        /// The next part of the body is awaited.
        func pause() {
            let wasHeld = state.withLock { state in
                guard state == .held else { return false }
                state = .paused
                return true
            }
            if wasHeld { requests.count.subtract(1, ordering: .relaxed) }
        }

        /// The body is complete.
        ///
        /// - Throws: ``Problem`` 503 if the limit is reached, unless the answer has begun.
        func resume() throws(Problem) {
            let isHeld = state.withLock { state in
                guard state == .paused else { return true }
                guard requests.take(force: isAnswering.load(ordering: .relaxed)) else { return false }
                state = .held
                return true
            }
            if !isHeld { throw InFlightRequests.problem }
        }

        /// The head of the answer is decided. From here on a missing permit would cut the answer off.
        func answers() { isAnswering.store(true, ordering: .relaxed) }
    }

    /// The answer to a request above the limit.
    static let problem = Problem.serviceUnavailable("Too many requests are in flight (HTTP_MAX_IN_FLIGHT).")

    private let count = Atomic(0)
    private let unsent = Atomic(0)
    private let limit = Atomic(Int.max)
    private let relief = Mutex<(@Sendable () -> Void)?>(nil)

    /// The requests that are being answered now, and the answers that wait for their clients.
    var current: Int { count.load(ordering: .relaxed) + unsent.load(ordering: .relaxed) }

    /// Sets the limit. Before the first call there is none.
    ///
    /// - Parameter relief: closes the connection with the most answers that its client does not take.
    func setLimit(_ value: Int, relief: @escaping @Sendable () -> Void = {}) {
        limit.store(value, ordering: .relaxed)
        self.relief.withLock { $0 = relief }
    }

    /// Counts a new request; `nil` if the limit is reached.
    func begin() -> Permit? { take(force: false) ? Permit(self) : nil }

    /// Counts answers that are complete and have not left the process; a negative number when they have.
    func addUnsent(_ change: Int) { unsent.add(change, ordering: .relaxed) }

    private func take(force: Bool) -> Bool {
        let (_, now) = count.add(1, ordering: .relaxed)
        let limit = limit.load(ordering: .relaxed)
        guard now <= limit || force else {
            count.subtract(1, ordering: .relaxed)
            return false
        }
        if unsent.load(ordering: .relaxed) > limit - now, let relief = relief.withLock({ $0 }) { relief() }
        return true
    }
}

extension Request {
    /// The request whose permit is paused while the next part of its body is awaited.
    func pausing(_ permit: InFlightRequests.Permit) -> Request {
        Request(head: head, body: RequestBody(asyncSequence: PausingBody(body: body, permit: permit)))
    }
}

/// A request's body that holds no permit while it is awaited.
private struct PausingBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: RequestBody
    let permit: InFlightRequests.Permit

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: RequestBody.AsyncIterator
        let permit: InFlightRequests.Permit

        @concurrent mutating func next() async throws -> ByteBuffer? {
            permit.pause()
            let part = try await parts.next()
            if part == nil { try permit.resume() }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: body.makeAsyncIterator(), permit: permit) }
}
