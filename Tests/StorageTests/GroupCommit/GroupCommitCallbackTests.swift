import Domain
import ServiceLifecycle
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Storage

/// Commits that end when the test says so.
private final class HeldCommits: Sendable {
    typealias Completion = GroupCommit<Int, Int>.Completion

    private let begun = Mutex<[(elements: [Int], completion: Completion)]>([])

    var groups: [[Int]] { begun.withLock { $0.map(\.elements) } }

    func begin(_ elements: [Int], _ completion: @escaping Completion) {
        begun.withLock { $0.append((elements, completion)) }
    }

    /// Ends a commit with ten times its elements.
    func end(_ index: Int) {
        let (elements, completion) = begun.withLock { $0[index] }
        completion(.success(elements.map { $0 * 10 }))
    }

    func fail(_ index: Int, _ error: any Error) { begun.withLock { $0[index].completion }(.failure(error)) }
}

/// What completions were called with, in that order.
private final class Outputs: Sendable {
    private let results = Mutex<[Result<Int, any Error>]>([])

    var values: [Int?] { results.withLock { $0.map { try? $0.get() } } }

    var codes: [StorageError.Code?] {
        results.withLock { results in
            results.map { result in
                guard case .failure(let error) = result else { return nil }
                return (error as? StorageError)?.code
            }
        }
    }

    func note(_ result: Result<Int, any Error>) { results.withLock { $0.append(result) } }
}

private struct Broken: Error {}

@Suite(.timeLimit(.minutes(15))) struct GroupCommitCallbackTests {
    private func commits(
        _ held: HeldCommits, limit: Int = 100, maxCount: Int = 1000
    ) -> GroupCommit<Int, Int> {
        GroupCommit(limit: limit, capacity: .init(maxCount: maxCount, maxBytes: .max)) { held.begin($0, $1) }
    }

    @Test func `The first request is committed on its caller's thread, before the call returns`() async throws {
        let (held, outputs) = (HeldCommits(), Outputs())
        let commits = commits(held)
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            commits.submit(1, then: outputs.note)
            #expect(held.groups == [[1]])
            #expect(outputs.values.isEmpty)
            held.end(0)
            #expect(outputs.values == [10])
        }
        #expect(outputs.values == [10])
    }

    @Test
    func `Callbacks and tasks share a group, and each gets its outputs in the order of the requests`() async throws {
        let (held, outputs) = (HeldCommits(), Outputs())
        let commits = commits(held)
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            commits.submit(1, then: outputs.note)
            commits.submit(2, then: outputs.note)
            let task = Task { try await commits.submit([3, 4]) }
            try await expectEventually { commits.waitingCount == 2 }
            commits.submit([5, 6]) { result in
                for value in (try? result.get()) ?? [] { outputs.note(.success(value)) }
            }
            commits.submit(7, then: outputs.note)
            held.end(0)
            #expect(held.groups == [[1], [2, 3, 4, 5, 6, 7]])
            held.end(1)
            #expect(outputs.values == [10, 20, 50, 60, 70])
            #expect(try await task.value == [30, 40])
        }
    }

    @Test func `The next commit is begun before the outputs of the last are delivered`() async throws {
        let held = HeldCommits()
        let commits = commits(held)
        let seen = Mutex<[Int]>.Box([])
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            commits.submit(1) { _ in seen.value.withLock { $0.append(held.groups.count) } }
            commits.submit(2) { _ in seen.value.withLock { $0.append(held.groups.count) } }
            held.end(0)
            #expect(seen.value.withLock { $0 } == [2])
            held.end(1)
            #expect(seen.value.withLock { $0 } == [2, 2])
        }
    }

    @Test func `The error of a commit reaches everyone in it, and nobody else`() async throws {
        let (held, outputs) = (HeldCommits(), Outputs())
        let commits = commits(held)
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            commits.submit(1, then: outputs.note)
            commits.submit(2, then: outputs.note)
            let task = Task { try await commits.submit([3]) }
            try await expectEventually { commits.waitingCount == 2 }
            held.end(0)
            commits.submit(4, then: outputs.note)
            held.fail(1, StorageError(.timeout, "late"))
            #expect(outputs.values == [10, nil])
            #expect(outputs.codes == [nil, .timeout])
            let error = await #expect(throws: StorageError.self) { try await task.value }
            #expect(error?.code == .timeout)
            held.fail(2, CancellationError())
            #expect(outputs.codes == [nil, .timeout, .connectionLost])
            commits.submit(5, then: outputs.note)
            held.end(3)
            #expect(outputs.values == [10, nil, nil, 50])
        }
    }

    @Test func `A commit with too few outputs fails its group`() async throws {
        let outputs = Outputs()
        let commits = GroupCommit<Int, Int>(limit: 10) { _, completion in completion(.success([])) }
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            commits.submit(1, then: outputs.note)
            #expect(outputs.codes == [.failed])
        }
    }

    @Test func `Commits that end at once do not grow the stack, however many follow each other`() async throws {
        let commits = GroupCommit<Int, Int>(limit: 1) { $1(.success($0)) }
        let ended = Mutex<Int>.Box(0)
        // Each waits for the start, and is a commit of its own.
        for number in 0..<10_000 { commits.submit(number) { _ in ended.value.withLock { $0 += 1 } } }
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            try await expectEventually { ended.value.withLock { $0 } == 10_000 }
            // Each is submitted by the callback of the last.
            @Sendable func submit(_ left: Int) {
                commits.submit(left) { _ in
                    ended.value.withLock { $0 += 1 }
                    if left > 1 { submit(left - 1) }
                }
            }
            submit(200_000)
            try await expectEventually { ended.value.withLock { $0 } == 210_000 }
        }
    }

    @Test func `Commits that end on other threads lose nothing and mix nothing up`() async throws {
        let commits = GroupCommit<Int, Int>(limit: 7) { elements, completion in
            // Some end before the call returns, some on another thread.
            if elements[0].isMultiple(of: 3) {
                completion(.success(elements.map { $0 * 10 }))
            } else {
                Task { completion(.success(elements.map { $0 * 10 })) }
            }
        }
        let outputs = Mutex<[Int: [Int]]>.Box([:])
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            await withTaskGroup(of: Void.self) { group in
                for sender in 0..<20 {
                    group.addTask {
                        for number in (sender * 500)..<(sender * 500 + 500) {
                            commits.submit(number) { result in
                                let value = (try? result.get()) ?? -1
                                outputs.value.withLock { $0[number, default: []].append(value) }
                            }
                        }
                    }
                }
            }
            try await expectEventually { outputs.value.withLock { $0.count } == 10_000 }
        }
        #expect(outputs.value.withLock { all in all.allSatisfy { $0.value == [$0.key * 10] } })
    }

    @Test func `What is too much to wait is refused at once`() async throws {
        let (held, outputs) = (HeldCommits(), Outputs())
        let commits = commits(held, maxCount: 2)
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            for number in 1...4 { commits.submit(number, then: outputs.note) }
            #expect(outputs.codes == [.overloaded])
            #expect(StorageError(.overloaded, "").isRetriable)
            held.end(0)
            held.end(1)
            #expect(outputs.values == [nil, 10, 20, 30])
        }
    }

    @Test func `Graceful shutdown commits what waits, and later requests are refused`() async throws {
        let (held, outputs) = (HeldCommits(), Outputs())
        let commits = commits(held, limit: 1)
        try await withRunning(commits) { (services: ServiceGroup) async throws in
            for number in 1...3 { commits.submit(number, then: outputs.note) }
            await services.triggerGracefulShutdown()
            try await expectEventually { !commits.isRunning }
            commits.submit(4, then: outputs.note)
            #expect(outputs.codes == [.unavailable])
            for index in 0..<3 { held.end(index) }
            #expect(outputs.values == [nil, 10, 20, 30])
        }
        commits.submit(5, then: outputs.note)
        #expect(outputs.codes == [.unavailable, nil, nil, nil, .unavailable])
        #expect(held.groups == [[1], [2], [3]])
    }

    @Test func `Cancelling ends the commit in flight, and what waits is not left without a result`() async throws {
        let (held, outputs) = (HeldCommits(), Outputs())
        let commits = GroupCommit<Int, Int>(
            limit: 1, cancel: { for index in held.groups.indices { held.fail(index, CancellationError()) } },
            commit: { held.begin($0, $1) })
        let loop = Task { await commits.run() }
        try await expectEventually { commits.isRunning }
        commits.submit(1, then: outputs.note)
        loop.cancel()
        await loop.value
        #expect(outputs.codes == [.connectionLost])
    }

    @Test func `Requests that waited for a start that never came are refused`() {
        let outputs = Outputs()
        do {
            let commits = commits(HeldCommits())
            commits.submit(1, then: outputs.note)
            commits.submit([2]) { outputs.note($0.map { $0[0] }) }
            #expect(outputs.values.isEmpty)
        }
        #expect(outputs.codes == [.unavailable, .unavailable])
    }
}

extension Mutex where Value: Sendable {
    final class Box: Sendable {
        let value: Mutex<Value>
        init(_ value: sending Value) { self.value = Mutex(value) }
    }
}
