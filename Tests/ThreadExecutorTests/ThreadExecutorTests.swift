import Foundation
import StackKit
import Synchronization
import TestSupport
import Testing
import ThreadExecutor

/// Tells when it is let go.
private final class Witness: Sendable {
    let isGone: Mutex<Bool>.Box

    init(_ isGone: Mutex<Bool>.Box) { self.isGone = isGone }
    deinit { isGone.value.withLock { $0 = true } }
}

extension Mutex where Value: Sendable {
    final class Box: Sendable {
        let value: Mutex<Value>
        init(_ value: sending Value) { self.value = Mutex(value) }
    }
}

/// An actor that notes what its thread does between jobs.
private actor Worker: ThreadExecutor.Client {
    private let executor: ThreadExecutor
    private var jobs = 0
    private(set) var groups: [Int] = []
    private var descriptor: Int32?
    private var deadline: ContinuousClock.Instant?
    private var ended: CheckedContinuation<Bool, Never>?
    private let witness: Witness?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(name: String = "worker", witness: Witness? = nil) throws {
        executor = try ThreadExecutor(name: name)
        self.witness = witness
        executor.setClient(self)
    }

    deinit { executor.stop() }

    func job() { jobs += 1 }

    func isMainThread() -> Bool { Thread.isMainThread }

    func threadName() -> String {
        (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "worker\n"
    }

    func block(until gate: Gate) {
        gate.begun.withLock { $0 = true }
        while !gate.isOpen.withLock({ $0 }) { sched_yield() }
    }

    /// Waits for the descriptor, or the deadline; whether it was the descriptor.
    func wait(for descriptor: Int32?, until deadline: ContinuousClock.Instant?) async -> Bool {
        (self.descriptor, self.deadline) = (descriptor, deadline)
        return await withCheckedContinuation { ended = $0 }
    }

    nonisolated var taskExecutor: any TaskExecutor { executor }

    nonisolated func checkFromOutside() -> Bool? { executor.isIsolatingCurrentContext() }

    nonisolated func prepareToWait() -> ThreadExecutor.Interest {
        assumeIsolated { worker in
            if worker.jobs > 0 { worker.groups.append(worker.jobs) }
            worker.jobs = 0
            return ThreadExecutor.Interest(descriptor: worker.descriptor, deadline: worker.deadline)
        }
    }

    nonisolated func waitEnded(readable: Bool, writable: Bool) {
        assumeIsolated { worker in
            let isLate = worker.deadline.map { $0 <= .now } ?? false
            guard readable || isLate, let ended = worker.ended else { return }
            (worker.ended, worker.descriptor, worker.deadline) = (nil, nil, nil)
            ended.resume(returning: readable)
        }
    }
}

private final class Gate: Sendable {
    let begun = Mutex(false)
    let isOpen = Mutex(false)
}

@Suite(.timeLimit(.minutes(5))) struct ThreadExecutorTests {
    @Test func `Jobs run on its own thread`() async throws {
        let worker = try Worker()
        #expect(await worker.threadName() == "worker\n")
        #expect(await worker.isMainThread() == false)
    }

    @Test func `A task that prefers it stays on the thread between calls`() async throws {
        let worker = try Worker()
        await withTaskExecutorPreference(worker.taskExecutor) {
            for _ in 0..<10 {
                await worker.job()
                #expect(worker.checkFromOutside() == true)
            }
        }
        #expect(worker.checkFromOutside() == false)
    }

    @Test func `Isolation holds on the thread only`() throws {
        #expect(try Worker().checkFromOutside() == false)
    }

    @Test func `What arrives meanwhile is the next group`() async throws {
        let worker = try Worker()
        let gate = Gate()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await worker.block(until: gate) }
            while !gate.begun.withLock({ $0 }) { await Task.yield() }
            for _ in 0..<50 { group.addTask { await worker.job() } }
            for _ in 0..<10_000 { await Task.yield() }
            gate.isOpen.withLock { $0 = true }
        }
        #expect(try await eventually { await worker.groups.reduce(0, +) == 50 })
        #expect(await worker.groups.count < 50)
    }

    @Test func `A descriptor ends the wait`() async throws {
        let worker = try Worker()
        let pipe = Pipe()
        async let isReadable = worker.wait(for: pipe.fileHandleForReading.fileDescriptor, until: nil)
        try pipe.fileHandleForWriting.write(contentsOf: [1])
        #expect(await isReadable)
    }

    @Test func `A deadline ends the wait`() async throws {
        let worker = try Worker()
        let deadline = ContinuousClock.now + .milliseconds(50)
        #expect(await worker.wait(for: nil, until: deadline) == false)
        #expect(ContinuousClock.now >= deadline)
    }

    @Test func `Many jobs from many tasks all run`() async throws {
        let worker = try Worker()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 { group.addTask { for _ in 0..<10 { await worker.job() } } }
        }
        #expect(try await eventually { await worker.groups.reduce(0, +) == 10_000 })
    }

    @Test func `The thread ends with its actor`() async throws {
        let isGone = Mutex<Bool>.Box(false)
        do {
            let worker = try Worker(name: "worker-end", witness: Witness(isGone))
            await worker.job()
            #if os(Linux)
            #expect(threads(named: "worker-end") == 1)
            #endif
        }
        #expect(try await eventually { isGone.value.withLock { $0 } })
        #if os(Linux)
        #expect(try await eventually { threads(named: "worker-end") == 0 })
        #endif
    }

    #if os(Linux)
    /// In processes of their own: what they use up, other tests need.
    @Test func `Without descriptors it throws`() async {
        await #expect(processExitsWith: .success) {
            // Open descriptors stay open: libdispatch traps if its own are closed. The system gives out none above.
            var limit = rlimit(rlim_cur: 3, rlim_max: 3)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let error = #expect(throws: ThreadResourceError.self) { _ = try ThreadExecutor(name: "none") }
            exit(error?.description.contains("pipe") == true ? 0 : 1)
        }
    }

    @Test func `Without memory for a thread it throws`() async {
        await #expect(processExitsWith: .success) {
            // A thread's stack is mapped: 8 MiB, unless `ulimit -s` says otherwise.
            let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").first
            let used = pages.flatMap { UInt($0) }.map { $0 * UInt(sysconf(Int32(_SC_PAGESIZE))) } ?? 0
            var limit = rlimit(rlim_cur: used + 1 << 20, rlim_max: used + 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            let error = #expect(throws: ThreadResourceError.self) { _ = try ThreadExecutor(name: "none") }
            exit(error?.description.contains("thread") == true ? 0 : 1)
        }
    }
    #endif

    private func threads(named name: String) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let names = tasks.map { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
        return names.filter { $0 == name + "\n" }.count
    }
}
