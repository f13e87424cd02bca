import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The system has no thread or file descriptor left for a ``ThreadExecutor``. It may have one later.
package struct ThreadResourceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which resource is missing, and the system's reason.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A serial executor with its own thread, which waits on a file descriptor between jobs.
///
/// Use it for an actor that owns the handle of a C library which is not thread-safe, may block, and does nothing in the
/// background (librabbitmq, libpq). All jobs of the actor and all calls of the library run on this one thread, so they
/// never block Swift's cooperative pool. The thread takes all waiting jobs, runs them, and only then asks the
/// ``Client`` to write the output that they produced. Jobs that arrive meanwhile form the next group.
///
/// It is a task executor, too: a task that prefers it calls the actor without a change of threads. Such a task must not
/// block, and its owner must hold the actor.
///
/// The thread ends after ``stop()``, which the owning actor calls in its `deinit`, when no more jobs can arrive.
///
/// Decision: docs/decisions/0020-a-c-connection-is-an-actor-on-its-thread.md
package final class ThreadExecutor: SerialExecutor, TaskExecutor {
    /// The actor that uses this executor, as the thread calls it between jobs. All calls are made on the thread.
    package protocol Client: AnyObject, Sendable {
        /// The waiting jobs have run: takes the mail (see ``ThreadExecutor/post()``), writes the output, and returns
        /// what to wait for.
        func prepareToWait() -> Interest

        /// The wait has ended: serves the descriptor and the deadlines that have passed.
        func waitEnded(readable: Bool, writable: Bool)
    }

    /// The events that end a wait, besides a new job and new mail.
    package struct Interest: Sendable {
        package var descriptor: Int32?
        /// Whether the wait also ends when the descriptor becomes writable.
        package var untilWritable: Bool
        /// When the wait ends by itself; `nil` for never.
        package var deadline: ContinuousClock.Instant?

        /// Without arguments, only a new job or new mail ends the wait.
        package init(
            descriptor: Int32? = nil, untilWritable: Bool = false, deadline: ContinuousClock.Instant? = nil
        ) {
            self.descriptor = descriptor
            self.untilWritable = untilWritable
            self.deadline = deadline
        }
    }

    private struct State {
        var jobs: [UnownedJob] = []
        /// Whether work came into the client's mailbox since the client was last asked.
        var hasMail = false
        /// Whether the thread waits, and nobody has signalled it yet.
        var isWaiting = false
        var isStopped = false
        weak var client: (any Client)?
        var thread: pthread_t?
    }

    private let state = Mutex(State())
    private let wakeUp: WakeUp

    /// Starts the thread.
    ///
    /// - Parameter name: the thread's name in debuggers and `top -H`; at most 15 bytes on Linux.
    /// - Throws: ``ThreadResourceError`` if no thread or file descriptor is left. Nothing is leaked then.
    package init(name: String) throws(ThreadResourceError) {
        wakeUp = try WakeUp()
        try startThread(named: name) { self.run() }
    }

    /// Sets the client, which is held weakly.
    package func setClient(_ client: any Client) {
        state.withLock { $0.client = client }
        wakeUp.signal()
    }

    /// Ends the thread once it has run the waiting jobs.
    package func stop() {
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    /// Makes the thread ask its ``Client`` before it waits again. Call it after work was left in a mailbox without a
    /// job; the client takes the work in ``Client/prepareToWait()``.
    ///
    /// Any thread may call it, also this one. It writes to the pipe only if the thread waits.
    package func post() { wakeIfWaiting { $0.hasMail = true } }

    /// Adds a job; wakes the thread if it waits.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        wakeIfWaiting { $0.jobs.append(job) }
    }

    /// The thread decides to wait under the same lock, so it either sees the change or is signalled.
    private func wakeIfWaiting(after change: (inout State) -> Void) {
        let wasWaiting = state.withLock { state in
            change(&state)
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if wasWaiting { wakeUp.signal() }
    }

    /// Waits on the thread itself within a job: for the descriptor, for the deadline, or for a signal. No other job
    /// runs meanwhile.
    package func block(_ interest: Interest) -> (readable: Bool, writable: Bool) {
        checkIsolated()
        return wakeUp.wait(interest: interest, milliseconds: milliseconds(until: interest.deadline))
    }

    /// Traps unless called on the thread.
    package func checkIsolated() {
        precondition(isOnThread, "This must run on the thread of its ThreadExecutor.")
    }

    /// Whether the caller runs on the thread. Without this, `assumeIsolated` outside a job, as in the client's calls,
    /// would trap.
    package func isIsolatingCurrentContext() -> Bool? { isOnThread }

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
            for job in jobs {
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            jobs.removeAll(keepingCapacity: true)
            let interest = prepareToWait()
            let (readable, writable) = wait(interest)
            client?.waitEnded(readable: readable, writable: writable)
        }
    }

    /// Never held across a wait: otherwise the client could not be released, and the thread would not end.
    private var client: (any Client)? { state.withLock { $0.client } }

    private func prepareToWait() -> Interest {
        let client = state.withLock { state in
            // The client is asked next: mail that comes from now on is taken before the wait.
            state.hasMail = false
            return state.client
        }
        return client?.prepareToWait() ?? Interest()
    }

    private func wait(_ interest: Interest) -> (readable: Bool, writable: Bool) {
        let isIdle = state.withLock { state in
            state.isWaiting = state.jobs.isEmpty && !state.hasMail && !state.isStopped
            return state.isWaiting
        }
        defer { state.withLock { $0.isWaiting = false } }
        return wakeUp.wait(interest: interest, milliseconds: isIdle ? milliseconds(until: interest.deadline) : 0)
    }

    private func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline).components
        guard left.seconds >= 0, left.attoseconds >= 0 else { return 0 }
        // Rounded up, so that the wait does not end just before the deadline and spin. A deadline may be any time.
        let milliseconds = min(left.seconds, Int64(Int32.max)) * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1
        return Int32(clamping: milliseconds)
    }
}
