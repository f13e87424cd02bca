import Foundations
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct WaitListTests {
    private final class Owner: Sendable {
        struct State {
            var callers = WaitList<String>()
            var entered = 0
        }

        let state = Mutex(State())

        var count: Int { state.withLock { $0.callers.count } }

        func wait(size: Int = 1, _ answer: String? = nil) async throws -> String {
            try await state.wait(in: \.callers, size: size) { state in
                state.entered += 1
                return answer
            }
        }

        /// Callers that wait in this order.
        func callers(_ sizes: [Int]) async throws -> [Task<String, any Error>] {
            var tasks: [Task<String, any Error>] = []
            for size in sizes {
                let count = count
                tasks.append(Task { try await self.wait(size: size) })
                try await expectEventually { self.count == count + 1 }
            }
            return tasks
        }
    }

    private let owner = Owner()

    @Test func `Waiters are answered in order of arrival`() async throws {
        let tasks = try await owner.callers([3, 1, 2])
        #expect(owner.state.withLock { $0.callers.first?.size } == 3)
        owner.state.withLock { $0.callers.popFirst() }?.resume(returning: "first")
        #expect(try await tasks[0].value == "first")
        let rest = owner.state.withLock { $0.callers.removeAll() }
        #expect(rest.map(\.size) == [1, 2] && owner.count == 0)
        for waiter in rest { waiter.resume(returning: "\(waiter.size)") }
        #expect(try await tasks[1].value == "1")
        #expect(try await tasks[2].value == "2")
        #expect(owner.state.withLock { $0.callers.popFirst() } == nil)
    }

    @Test func `Nobody waits for an answer that is there`() async throws {
        #expect(try await owner.wait("at once") == "at once")
        #expect(owner.count == 0)
    }

    @Test func `One that is cancelled leaves the list`() async throws {
        let tasks = try await owner.callers([1, 2, 3])
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        let rest = owner.state.withLock { $0.callers.removeAll() }
        #expect(rest.map(\.size) == [1, 3])
        for waiter in rest { waiter.resume(returning: "") }
        for task in [tasks[0], tasks[2]] { #expect(try await task.value == "") }
        // A cancellation after the answer finds nobody.
        tasks[0].cancel()
    }

    @Test(arguments: [nil, "at once"])
    func `One that was cancelled before enters but does not wait`(_ answer: String?) async throws {
        let task = Task { [owner] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try? await owner.wait(answer)
        }
        #expect(await task.value == answer)
        #expect(owner.count == 0 && owner.state.withLock { $0.entered } == 1)
    }

    @Test func `Those of earlier are taken without those who came later`() async throws {
        let early = try await owner.callers([1, 2])
        let tickets = owner.state.withLock { $0.callers.tickets }
        early[0].cancel()
        _ = await early[0].result
        let late = try await owner.callers([3])
        let taken = owner.state.withLock { $0.callers.remove(tickets) }
        #expect(taken.map(\.size) == [2] && owner.count == 1)
        for waiter in taken + owner.state.withLock({ $0.callers.removeAll() }) { waiter.resume(returning: "") }
        for task in [early[1], late[0]] { #expect(try await task.value == "") }
    }

    @Test func `Cancellations and answers at the same time lose nobody`() async throws {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                let task = Task { try await owner.wait() }
                group.addTask { task.cancel() }
                group.addTask { [owner] in
                    owner.state.withLock { $0.callers.popFirst() }?.resume(returning: "")
                }
                group.addTask { _ = await task.result }
            }
        }
        #expect(owner.count == 0)
    }
}
