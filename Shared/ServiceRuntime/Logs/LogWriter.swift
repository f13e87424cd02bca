import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Writes log lines on a thread of its own, so that nobody who logs ever waits for the reader of the log.
///
/// Lines wait in a queue with a bound. When it is full, or when a write fails, whole lines are dropped and counted.
/// Once lines are written again, a line says how many were dropped. Lines are written in the order in which they came,
/// as many as fit into one atomic write to a pipe (`PIPE_BUF`), so that lines of several processes do not mix.
package final class LogWriter: Sendable {
    private struct State {
        /// Whole lines that wait.
        var waiting: [UInt8] = []
        var isWriting = false
        /// The lines that were dropped since the start.
        var dropped = 0
        /// Makes the line about dropped lines.
        var note: (@Sendable (_ lines: Int) -> [UInt8])?
    }

    /// The work of the writer's thread.
    private struct Progress {
        /// The rest of a line of which a part was written when a write failed.
        var begun: [UInt8] = []
        /// The dropped lines that a line has told of.
        var noted = 0
    }

    /// The log of this process.
    package static let standardError = LogWriter(descriptor: STDERR_FILENO)
    /// Standard output, for the lines that scripts read.
    package static let standardOutput = LogWriter(descriptor: STDOUT_FILENO)

    /// Some 10,000 lines.
    static let standardCapacity = 4 << 20

    private static let feed = UInt8(ascii: "\n")

    private let descriptor: Int32
    private let capacity: Int
    private let state = Mutex(State())
    private let progress = Mutex(Progress())
    private let queue = DispatchQueue(label: "securepush.log")

    /// Makes a writer of a descriptor, which stays open.
    package convenience init(descriptor: Int32) {
        self.init(descriptor: descriptor, capacity: Self.standardCapacity)
    }

    /// - Parameter capacity: the bytes that may wait, beside those that are being written.
    init(descriptor: Int32, capacity: Int) {
        self.descriptor = descriptor
        self.capacity = capacity
    }

    /// The lines that were dropped since the start.
    var dropped: Int { state.withLock { $0.dropped } }

    /// Sets the function that makes the line about dropped lines.
    func noteDrops(_ make: @escaping @Sendable (_ lines: Int) -> [UInt8]) { state.withLock { $0.note = make } }

    /// Takes one or more whole lines, each with its line end, and returns at once.
    package func write(_ lines: [UInt8]) {
        guard !lines.isEmpty else { return }
        let begins = state.withLock { state in
            guard state.waiting.count + lines.count <= capacity else {
                state.dropped += Self.count(lines)
                return false
            }
            state.waiting += lines
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.async { self.writeAll() } }
    }

    /// Takes a text of whole lines, and returns at once.
    func write(_ text: String) { write(Array(text.utf8)) }

    /// Waits until all lines are written or dropped.
    ///
    /// - Parameter limit: the maximum time; lines that nobody reads are left then.
    func flush(within limit: Duration) {
        let end = ContinuousClock.now + limit
        while state.withLock({ $0.isWriting }), ContinuousClock.now < end { usleep(1000) }
    }

    /// Writes until nothing waits. Runs on the writer's thread.
    private func writeAll() {
        progress.withLock { progress in
            while let (batch, dropped) = next() {
                guard write(batch, &progress.begun), dropped > progress.noted else { continue }
                // The lines of this batch came before those that were dropped.
                let note = state.withLock { $0.note }
                if write(note?(dropped - progress.noted) ?? [], &progress.begun) { progress.noted = dropped }
            }
        }
    }

    /// All lines that wait, and the number of lines that were dropped so far; `nil` if none wait.
    private func next() -> (batch: [UInt8], dropped: Int)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWriting = false
                return nil
            }
            defer { state.waiting = [] }
            return (state.waiting, state.dropped)
        }
    }

    /// Writes the rest of a begun line, and a batch. Waits for a reader that takes nothing now. If a write fails,
    /// because there is no reader any more or no space, the lines that are not begun are dropped.
    ///
    /// - Returns: whether all was written.
    private func write(_ batch: [UInt8], _ begun: inout [UInt8]) -> Bool {
        let lines = begun + batch
        var rest = lines[...]
        while !rest.isEmpty {
            switch StandardStream.write(Self.chunk(of: rest), to: descriptor) {
            case .wrote(let count): rest = rest.dropFirst(count)
            case .full: StandardStream.waitUntilWritable(descriptor)
            case .failed:
                let isBegun = rest.startIndex == 0 ? !begun.isEmpty : lines[rest.startIndex - 1] != Self.feed
                let end = isBegun ? rest.firstIndex(of: Self.feed).map { $0 + 1 } ?? rest.endIndex : rest.startIndex
                begun = Array(rest[..<end])
                let lost = Self.count(rest[end...])
                state.withLock { $0.dropped += lost }
                return false
            }
        }
        begun = []
        return true
    }

    /// The lines at the beginning that one write to a pipe does not divide; of a longer line, all of it.
    private static func chunk(of lines: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard lines.count > PIPE_BUF else { return lines }
        if let end = lines.prefix(Int(PIPE_BUF)).lastIndex(of: feed) { return lines[...end] }
        return lines.firstIndex(of: feed).map { lines[...$0] } ?? lines
    }

    private static func count(_ lines: some Sequence<UInt8>) -> Int { lines.count { $0 == feed } }
}
