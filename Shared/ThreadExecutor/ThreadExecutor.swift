import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The system has no thread or no file descriptor left for a ``ThreadExecutor``. It may have one later.
public struct ThreadResourceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which of them, and the system's reason.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// A serial executor with a thread of its own that, between jobs, waits on a file descriptor.
///
/// It is for an actor that owns a C library's handle which is not thread-safe, may block, and does nothing in the
/// background (librabbitmq, libpq). All of the actor's jobs, and all of the library's calls, run on this one thread, so
/// that nothing blocks Swift's cooperative pool. The thread takes every job that is waiting, runs them, and only then
/// asks the ``Client`` to write what they left behind: what arrives meanwhile is the next group.
///
/// The thread ends after ``stop()``; the owning actor calls it in its `deinit`, when no job can come any more.
public final class ThreadExecutor: SerialExecutor {
    /// What the thread serves between jobs; the actor whose executor this is. Called on the thread only.
    public protocol Client: AnyObject, Sendable {
        /// The waiting jobs have run: write what they left behind, and say what to wait for.
        func prepareToWait() -> Interest

        /// The wait has ended, for whatever reason: serve the descriptor, and what has fallen due.
        func waitEnded(readable: Bool, writable: Bool)
    }

    /// What ends a wait, besides a new job.
    public struct Interest: Sendable {
        /// A descriptor to wait on, or `nil`.
        public var descriptor: Int32?
        /// Whether the descriptor's becoming writable ends the wait too.
        public var untilWritable: Bool
        /// When the wait ends by itself, or `nil` for never.
        public var deadline: ContinuousClock.Instant?

        public init(
            descriptor: Int32? = nil, untilWritable: Bool = false, deadline: ContinuousClock.Instant? = nil
        ) {
            self.descriptor = descriptor
            self.untilWritable = untilWritable
            self.deadline = deadline
        }
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var isWaiting = false
        var isStopped = false
        weak var client: (any Client)?
        var thread: pthread_t?
    }

    private let state = Mutex(State())
    private let wakeUp: WakeUp

    /// Starts the thread.
    ///
    /// - Parameter name: the thread's name as debuggers and `top -H` show it; 15 bytes at most on Linux.
    /// - Throws: ``ThreadResourceError`` where no thread or file descriptor is left. Nothing is held then.
    public init(name: String) throws(ThreadResourceError) {
        wakeUp = try WakeUp()
        try startThread(named: name) { self.run() }
    }

    /// Sets the one that is served between jobs; held weakly.
    public func setClient(_ client: any Client) {
        state.withLock { $0.client = client }
        wakeUp.signal()
    }

    /// Ends the thread once it has run what is waiting.
    public func stop() {
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    /// Ends the wait, so that the ``Client`` is asked again: for what was left to it in a mailbox, without a job.
    public func wake() { wakeUp.signal() }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wasWaiting = state.withLock { state in
            state.jobs.append(job)
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if wasWaiting { wakeUp.signal() }
    }

    public func checkIsolated() {
        precondition(isOnThread, "This must run on the thread of its ThreadExecutor.")
    }

    // Without this, `assumeIsolated` outside a job, as in the client's calls, would trap.
    public func isIsolatingCurrentContext() -> Bool? { isOnThread }

    private var isOnThread: Bool {
        let own = pthread_self()
        return state.withLock { state in state.thread.map { pthread_equal($0, own) != 0 } ?? false }
    }

    private func run() {
        let own = pthread_self()
        state.withLock { $0.thread = own }
        var jobs: [UnownedJob] = []
        while true {
            let isStopped = state.withLock { state in
                swap(&jobs, &state.jobs)
                return state.isStopped
            }
            if isStopped, jobs.isEmpty { return }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            jobs.removeAll(keepingCapacity: true)
            let interest = prepareToWait()
            let (readable, writable) = wait(interest)
            client?.waitEnded(readable: readable, writable: writable)
        }
    }

    /// Never held across a wait: the client could not be let go then, and the thread would not end.
    private var client: (any Client)? { state.withLock { $0.client } }

    private func prepareToWait() -> Interest { client?.prepareToWait() ?? Interest() }

    private func wait(_ interest: Interest) -> (readable: Bool, writable: Bool) {
        let isIdle = state.withLock { state in
            state.isWaiting = state.jobs.isEmpty && !state.isStopped
            return state.isWaiting
        }
        defer { state.withLock { $0.isWaiting = false } }
        return wakeUp.wait(interest: interest, milliseconds: isIdle ? milliseconds(until: interest.deadline) : 0)
    }

    private func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline).components
        guard left.seconds >= 0, left.attoseconds >= 0 else { return 0 }
        // Rounded up, so that the wait does not end just before the deadline and spin.
        let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1
        return Int32(clamping: milliseconds)
    }
}
