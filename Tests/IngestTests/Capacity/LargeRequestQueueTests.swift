import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite("Large requests on their way to the store", .timeLimit(.minutes(5)))
struct LargeRequestQueueTests {
    private static let half = LargeRequestQueue.Limit.maxBytes / 2

    /// Holds requests that have their turn until they are let go, and keeps the order in which they came in.
    private final class Gate: Sendable {
        private let state = Mutex<(names: [String], held: [String: CheckedContinuation<Void, Never>])>(([], [:]))

        var names: [String] { state.withLock { $0.names } }

        func pass(_ name: String) async {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.names.append(name)
                    state.held[name] = continuation
                }
            }
        }

        func letGo(_ name: String) {
            state.withLock { $0.held.removeValue(forKey: name) }?.resume()
        }
    }

    @Test func `As many as fit go together and the others wait in their order`() async throws {
        let (queue, gate) = (LargeRequestQueue(), Gate())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, bytes, waiting) in [("a", Self.half, 0), ("b", Self.half, 0), ("c", .max, 1), ("d", 99_999, 2)] {
                group.addTask { try await queue.withSlot(of: bytes) { await gate.pass(name) } }
                try await expectEventually {
                    waiting == 0 ? gate.names.last == name : queue.waitingCount == waiting
                }
            }
            // A small one does not wait.
            let before = try await queue.withSlot(of: 1000) { gate.names }
            #expect(before == ["a", "b"])
            gate.letGo("b")
            try await group.next()
            // Half is free: not enough for "c", and "d" does not overtake it.
            #expect(gate.names == ["a", "b"] && queue.waitingCount == 2)
            gate.letGo("a")
            try await expectEventually { gate.names == ["a", "b", "c"] }
            #expect(queue.waitingCount == 1)
            gate.letGo("c")
            try await expectEventually { gate.names == ["a", "b", "c", "d"] }
            gate.letGo("d")
            try await group.waitForAll()
        }
    }

    @Test func `One that is cancelled leaves the line and blocks nobody`() async throws {
        let (queue, gate) = (LargeRequestQueue(), Gate())
        let first = Task { try await queue.withSlot(of: Self.half) { await gate.pass("first") } }
        try await expectEventually { gate.names == ["first"] }
        let whole = Task { try await queue.withSlot(of: .max) { await gate.pass("whole") } }
        try await expectEventually { queue.waitingCount == 1 }
        let last = Task { try await queue.withSlot(of: Self.half) { await gate.pass("last") } }
        try await expectEventually { queue.waitingCount == 2 }
        whole.cancel()
        await #expect(throws: CancellationError.self) { try await whole.value }
        try await expectEventually { gate.names == ["first", "last"] }
        gate.letGo("first")
        gate.letGo("last")
        try await first.value
        try await last.value
        #expect(queue.waitingCount == 0)
    }

    @Test func `A failure gives the turn back`() async throws {
        struct Failure: Error {}
        let queue = LargeRequestQueue()
        for _ in 0..<3 {
            await #expect(throws: Failure.self) { try await queue.withSlot(of: .max) { throw Failure() } }
        }
    }
}
