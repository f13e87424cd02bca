import Synchronization

/// Where changes go that are to survive a restart. Without a state file it does nothing, and costs nothing.
///
/// Changes are written in the order they were made, by one writer: whatever came while a transaction was under way is
/// the next one. Nobody waits for it; a process that is killed can lose what was changed in its last milliseconds.
final class StateJournal: Sendable {
    private struct State {
        var waiting: [StateChange] = []
        var isWriting = false
    }

    /// How many changes wait at most. Past it, the next change waits for the file: the emulator is as fast as its disk
    /// then. Each change is bounded by its request, 64 KB.
    static let maxWaiting = 10_000

    /// Keeps nothing.
    static let none = StateJournal(file: nil)

    private let file: StateFile?
    private let state = Mutex(State())

    init(file: StateFile?) {
        self.file = file
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// - Parameter value: asked for only when there is a state file.
    func put(_ kind: StateChange.Kind, hub: String, key: String, value: @autoclosure () -> [UInt8]) {
        guard file != nil else { return }
        add(StateChange(kind: kind, hub: hub, key: key, value: value()))
    }

    func remove(_ kind: StateChange.Kind, hub: String, key: String) {
        guard file != nil else { return }
        add(StateChange(kind: kind, hub: hub, key: key, value: nil))
    }

    /// Writes what still waits, and closes the file.
    func close() {
        guard let file else { return }
        file.write(
            state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            })
        file.close()
    }

    private func add(_ change: StateChange) {
        let (begins, isFull) = state.withLock { state in
            state.waiting.append(change)
            defer { state.isWriting = true }
            return (!state.isWriting, state.waiting.count >= Self.maxWaiting)
        }
        if begins { file?.writeLater { [self] in takeWaiting() } }
        if isFull { file?.waitForWriter() }
    }

    /// The changes of the next transaction; none ends the writing.
    private func takeWaiting() -> [StateChange] {
        state.withLock { state in
            defer { state.waiting = [] }
            state.isWriting = !state.waiting.isEmpty
            return state.waiting
        }
    }
}
