import Dispatch
import Synchronization

#if canImport(Glibc)
import CGlibc
#endif

/// Returns memory to the system after a burst of connections or of answers.
///
/// glibc keeps freed blocks that lie below blocks in use: after a burst the process would stay as large as it was at
/// its peak. `malloc_trim` returns them. It takes some milliseconds, so it runs once for many freed bytes, on a thread
/// of its own and some seconds later, when most of them are free.
final class HeapTrimmer: Sendable {
    private struct State {
        var freed = 0
        var isScheduled = false
        var lastTrim: DispatchTime?
    }

    /// Of the process, like its heap.
    static let shared = HeapTrimmer()

    /// The freed bytes after which the heap is trimmed.
    static let threshold = 8 << 20
    private static let delay = DispatchTimeInterval.seconds(2)
    private static let pause = DispatchTimeInterval.seconds(10)

    private let state = Mutex(State())

    /// Notes memory that is free, or will be within a second.
    func freed(_ bytes: Int) {
        let time: DispatchTime? = state.withLock { state in
            state.freed = min(state.freed, Self.threshold) + bytes
            guard state.freed >= Self.threshold, !state.isScheduled else { return nil }
            state.isScheduled = true
            let soon = DispatchTime.now() + Self.delay
            return state.lastTrim.map { max(soon, $0 + Self.pause) } ?? soon
        }
        guard let time else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: time) { self.trim() }
    }

    private func trim() {
        #if canImport(Glibc)
        _ = malloc_trim(0)
        #endif
        state.withLock { $0 = State(lastTrim: .now()) }
    }
}
