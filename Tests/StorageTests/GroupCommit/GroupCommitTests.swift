import Domain
import Logging
import ServiceLifecycle
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Storage

/// A gate that a commit waits at, so that a test decides what comes meanwhile.
private final class Gate: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
    private let isOpen = Mutex(false)

    func pass() async {
        if isOpen.withLock({ $0 }) { return }
        await withCheckedContinuation { waiter in waiting.withLock { $0.append(waiter) } }
    }

    var isReached: Bool { waiting.withLock { !$0.isEmpty } }

    func open() {
        isOpen.withLock { $0 = true }
        for waiter in waiting.withLock({ $0 }) { waiter.resume() }
    }
}

private struct Refused: Error {}

/// Runs group commits as the service of a group around `body`.
func withRunning(
    _ commits: GroupCommit<Int, Int>, _ body: @Sendable (ServiceGroup) async throws -> Void
) async throws {
    struct Loop: Service {
        let commits: GroupCommit<Int, Int>
        func run() async throws { await commits.run() }
    }
    let logger = Logger(label: "GroupCommitTests") { _ in SwiftLogNoOpLogHandler() }
    let services = ServiceGroup(services: [Loop(commits: commits)], gracefulShutdownSignals: [], logger: logger)
    try await withThrowingTaskGroup { group in
        group.addTask { try? await services.run() }
        _ = try await eventually { commits.isRunning }
        try await body(services)
        await services.triggerGracefulShutdown()
        try await group.waitForAll()
    }
}

struct GroupCommitTests {
    @Test func `What comes during a commit is the next one; a failure is of its group only`() async throws {
        let gate = Gate()
        let sizes = Mutex<[Int]>([])
        let commits = GroupCommit<Int, Int>(limit: 100) { elements in
            sizes.withLock { $0.append(elements.count) }
            if elements.contains(0) {
                await gate.pass()
                throw Refused()
            }
            return elements
        }
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            let first = Task { try await commits.submit([0]) }
            #expect(try await eventually { gate.isReached })
            let others = (1...50).map { element in Task { try await commits.submit([element, -element]) } }
            #expect(try await eventually { commits.waitingCount == 50 })
            gate.open()
            await #expect(throws: Refused.self) { try await first.value }
            for (index, other) in others.enumerated() { #expect(try await other.value == [index + 1, -index - 1]) }
            #expect(sizes.withLock { $0 } == [1, 100])
        }
    }

    @Test func `A cancelled caller's elements are committed all the same`() async throws {
        let gate = Gate()
        let committed = Mutex<Set<Int>>([])
        let commits = GroupCommit<Int, Int>(limit: 1) { elements in
            await gate.pass()
            committed.withLock { $0.formUnion(elements) }
            return elements
        }
        try await withRunning(commits) { (_: ServiceGroup) async throws in
            let inFlight = Task { try await commits.submit([1]) }
            #expect(try await eventually { gate.isReached })
            let waiting = Task { try await commits.submit([2]) }
            #expect(try await eventually { commits.waitingCount == 1 })
            inFlight.cancel()
            waiting.cancel()
            gate.open()
            #expect(try await inFlight.value == [1])
            #expect(try await waiting.value == [2])
            #expect(committed.withLock { $0 } == [1, 2])
        }
    }

    @Test func `Before the loop runs a caller waits, and may give up`() async throws {
        let commits = GroupCommit<Int, Int>(limit: 10) { $0 }
        let patient = Task { try await commits.submit([1]) }
        let impatient = Task { try await commits.submit([2]) }
        #expect(try await eventually { commits.waitingCount == 2 })
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await impatient.value }
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await commits.submit([3])
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        try await withRunning(commits) { (_: ServiceGroup) async throws in #expect(try await patient.value == [1]) }
    }

    @Test func `Cancelling the loop ends it, and leaves no caller waiting`() async throws {
        let commits = GroupCommit<Int, Int>(limit: 1) { elements in
            try await Task.sleep(for: .seconds(60))
            return elements
        }
        let loop = Task { await commits.run() }
        let call = Task { try await commits.submit([1]) }
        #expect(try await eventually { commits.isRunning && commits.waitingCount == 0 })
        loop.cancel()
        let error = await #expect(throws: StorageError.self) { try await call.value }
        #expect(error.map { $0.code == .connectionLost || $0.code == .unavailable } ?? false)
        await loop.value
    }
}
