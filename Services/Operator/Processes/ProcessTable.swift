import Foundations
import ServiceRuntime
import Synchronization

/// The kinds of processes that the page shows.
enum ProcessKind: String, Sendable, CaseIterable, Encodable {
    case ingest, dispatcher, retrieval, `operator`, hub
}

/// The results of the last polls of all processes, and their recent latencies.
final class ProcessTable: Sendable {
    /// The answer of one process to one poll.
    struct Answer: Sendable {
        var kind: ProcessKind
        /// The URL, or `this process`.
        var address: String
        var poll: ProcessPoll
    }

    /// The last known state of a process.
    struct Entry: Sendable {
        var kind: ProcessKind
        var address: String
        var process: ProcessState
        /// When it was last polled.
        var polledAt: Timestamp
    }

    /// A process whose name no longer resolves to its address is removed after this time.
    static let memory = Duration.seconds(300)

    private struct State {
        var entries: [String: Entry] = [:]
        var history = LatencyHistory()
    }

    private let state = Mutex(State())

    /// Adds a poll. Processes that are no longer polled stay as unreachable for some minutes.
    func note(_ answers: [Answer], at now: Timestamp) {
        state.withLock { state in
            var windows: [(ProcessKind, MetricsWindow)] = []
            for answer in answers {
                let key = "\(answer.kind.rawValue) \(answer.address)"
                var process = state.entries[key]?.process
                process?.note(answer.poll, at: now)
                let entry = Entry(
                    kind: answer.kind, address: answer.address, process: process ?? ProcessState(answer.poll, at: now),
                    polledAt: now)
                state.entries[key] = entry
                if let window = entry.process.window { windows.append((answer.kind, window)) }
            }
            for (key, entry) in state.entries where entry.polledAt != now {
                if now - entry.polledAt > Self.memory {
                    state.entries[key] = nil
                } else if entry.process.readiness.state != .unreachable {
                    let lost = ProcessPoll(readiness: .unreachable("Its name no longer has this address."))
                    state.entries[key]?.process.note(lost, at: now)
                }
            }
            state.history.add(windows, at: now)
        }
    }

    /// All processes, by kind and address.
    var entries: [Entry] {
        state.withLock { Array($0.entries.values) }
            .sorted { ($0.kind.rawValue, $0.address) < ($1.kind.rawValue, $1.address) }
    }

    /// The latencies of the last minutes.
    var latencies: [Overview.Latency] { state.withLock { $0.history.latencies } }
}
