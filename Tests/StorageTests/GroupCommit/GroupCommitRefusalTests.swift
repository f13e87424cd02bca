import Domain
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite(.timeLimit(.minutes(15))) struct GroupCommitRefusalTests {
    /// Group commits that refuse some elements with an error, and note the size of each try.
    private func commits(
        refusing refused: Set<Int>, _ error: StorageError, _ sizes: Mutex<[Int]>.Box, isAsynchronous: Bool
    ) -> GroupCommit<Int, Int> {
        let commit = { @Sendable (elements: [Int]) -> Result<[Int], any Error> in
            sizes.value.withLock { $0.append(elements.count) }
            return refused.isDisjoint(with: elements) ? .success(elements.map { $0 * 10 }) : .failure(error)
        }
        if isAsynchronous { return GroupCommit(limit: 1000) { try commit($0).get() } }
        return GroupCommit(limit: 1000) { $1(commit($0)) }
    }

    @Test(
        arguments: [[], [0], [99], [50, 51], Array(0..<100), Array(stride(from: 0, to: 100, by: 7))], [false, true])
    func `Only the callers of refused elements get the error`(_ refused: [Int], isAsynchronous: Bool) async throws {
        let sizes = Mutex<[Int]>.Box([])
        let error = StorageError(.failed, "refused")
        let commits = commits(refusing: Set(refused), error, sizes, isAsynchronous: isAsynchronous)
        let outcomes = Mutex<[Int: Result<Int, any Error>]>.Box([:])
        // They wait for the start, and are one group then. Every third caller has two elements, which stay together.
        for number in 0..<100 {
            let note = { @Sendable (result: Result<Int, any Error>) in
                outcomes.value.withLock { $0[number] = result }
            }
            if number.isMultiple(of: 3) {
                commits.submit([1000 + number, number]) { result in note(result.map { $0[1] }) }
            } else {
                commits.submit(number, then: note)
            }
        }
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            try await expectEventually { outcomes.value.withLock { $0.count } == 100 }
        }
        let failed = outcomes.value.withLock { all in all.filter { (try? $0.value.get()) != $0.key * 10 }.keys.sorted()
        }
        #expect(failed == refused)
        #expect(sizes.value.withLock { $0.first } == 134)
        // One refused element costs about two tries per halving.
        #expect(sizes.value.withLock { $0.count } <= 1 + 14 * refused.count)
    }

    static let notRefusals: [StorageError.Code] = [.timeout, .unavailable, .connectionLost, .invalid]

    @Test(arguments: notRefusals)
    func `A failure that may pass is not tried again`(_ code: StorageError.Code) async throws {
        let sizes = Mutex<[Int]>.Box([])
        let commits = commits(refusing: [1], StorageError(code, "later"), sizes, isAsynchronous: false)
        let codes = Mutex<[StorageError.Code?]>.Box([])
        for number in 0..<5 {
            commits.submit(number) { result in
                guard case .failure(let error) = result else { return }
                codes.value.withLock { $0.append((error as? StorageError)?.code) }
            }
        }
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            try await expectEventually { codes.value.withLock { $0.count } == 5 }
        }
        #expect(codes.value.withLock { $0 } == Array(repeating: code, count: 5))
        #expect(sizes.value.withLock { $0 } == [5])
    }

    @Test func `What was submitted before the stop is committed, also after a split`() async throws {
        let sizes = Mutex<[Int]>.Box([])
        let commits = commits(refusing: [2], StorageError(.failed, "refused"), sizes, isAsynchronous: true)
        let outcomes = Mutex<[Int: Bool]>.Box([:])
        for number in 0..<20 {
            commits.submit(number) { result in outcomes.value.withLock { $0[number] = (try? result.get()) != nil } }
        }
        try await withRunning(commits) { (_: ServiceGroup) async throws in }
        #expect(outcomes.value.withLock { $0.filter { !$0.value }.keys.sorted() } == [2])
        #expect(outcomes.value.withLock { $0.count } == 20)
    }
}
