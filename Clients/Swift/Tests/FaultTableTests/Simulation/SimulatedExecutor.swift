import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs the tasks of a simulation on one thread, in an order that a seed decides. When nothing can run, simulated time
/// moves to the next moment at which somebody waits to be woken.
///
/// Time therefore never passes while the client works, however slow the machine is, and a run with the same seed is the
/// same run. The executor takes the place of the global one for the whole process, so it belongs into an exit test.
///
/// Unchecked, because only the thread of the simulation touches what changes.
@available(macOS 15, *)
final class SimulatedExecutor: TaskExecutor, @unchecked Sendable {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    /// Why a run ended before its body.
    struct Stuck: Error, CustomStringConvertible {
        let description = "The run does not end: a continuation was lost, or somebody waits for ever."
    }

    /// Why there is no simulation: this runtime cannot be hooked.
    struct Unavailable: Error {}

    /// One for the process, because the hook is a function without a context.
    private static let shared = SimulatedExecutor()

    private var jobs: [UnownedJob] = []
    private var random = SplitMix(seed: 0)
    private var isShuffled = false
    private var thread: pthread_t?

    private init() {}

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    /// Runs a simulation on a thread of its own. Inside, call ``run(seed:clock:_:)``.
    static func simulate<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        // The concurrency runtime calls this function for each job that it would give to its thread pool.
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "swift_task_enqueueGlobal_hook") else {
            throw Unavailable()
        }
        let address = UInt(bitPattern: symbol)
        return try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                let hook = UnsafeMutableRawPointer(bitPattern: address)?.assumingMemoryBound(to: Hook?.self)
                shared.thread = pthread_self()
                hook?.pointee = { job, original in
                    // The test library has threads, too.
                    let isOurs = SimulatedExecutor.shared.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
                    if isOurs { SimulatedExecutor.shared.jobs.append(job) } else { original(job) }
                }
                let result = Result { try body() }
                hook?.pointee = nil
                continuation.resume(with: result)
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    /// Runs a body to its end on this thread.
    ///
    /// - Parameters:
    ///   - seed: 0 runs jobs in the order in which they became ready; every other seed is another order.
    ///   - limit: the longest simulated time, in seconds.
    static func run(
        seed: UInt64, clock: SimulatedClock, limit: TimeInterval = 86_400,
        _ body: @escaping @Sendable () async throws -> Void
    ) throws {
        shared.random = SplitMix(seed: seed)
        shared.isShuffled = seed != 0
        // What a former run left behind belongs to processes that are dead.
        shared.jobs = []
        let outcome = Outcome()
        let end = clock.uptime + limit
        Task { outcome.result = await Result(catching: body) }
        while outcome.result == nil {
            if let job = shared.next() {
                job.runSynchronously(on: shared.asUnownedTaskExecutor())
            } else if !clock.advance() || clock.uptime > end {
                throw Stuck()
            }
        }
        try outcome.result?.get()
    }

    private func next() -> UnownedJob? {
        guard !jobs.isEmpty else { return nil }
        return jobs.remove(at: isShuffled ? Int(random.next() % UInt64(jobs.count)) : 0)
    }

    /// Unchecked, because only the thread of the simulation touches it.
    private final class Outcome: @unchecked Sendable {
        var result: Result<Void, any Error>?
    }
}

extension Result where Failure == any Error, Success == Void {
    fileprivate init(catching body: () async throws -> Void) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// A small generator with a seed: SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators").
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
