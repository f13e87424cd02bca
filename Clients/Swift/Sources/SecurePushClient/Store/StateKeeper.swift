import Foundation

/// Reads and changes the client's state, also while the store cannot be written.
///
/// A full or read-only store must not keep a secret from the user. So changes that cannot be stored stay in memory, and
/// are stored with the next change that can. If the process ends before that, a secret may be shown again.
actor StateKeeper {
    private let store: any ClientStore
    /// The state with the changes that are not stored; `nil` if all are.
    private var unsaved: ClientState?
    private var lastRead: ClientState?
    private let limit: CallLimit
    /// Whether the store could not be read, so that the user of the device is unknown.
    private(set) var isBlind = false

    init(store: any ClientStore, limit: CallLimit) {
        self.store = store
        self.limit = limit
    }

    /// The state.
    ///
    /// - Throws: ``ClientStoreError/locked``. Other errors are an empty state.
    func read() async throws -> ClientState {
        do {
            var state = try await limit.run { [store] in try await store.read() }
            isBlind = false
            if let unsaved { state.merge(unsaved) }
            lastRead = state
            return state
        } catch ClientStoreError.locked {
            throw ClientStoreError.locked
        } catch {
            isBlind = true
            return unsaved ?? lastRead ?? ClientState()
        }
    }

    /// Changes the state.
    ///
    /// - Throws: ``ClientStoreError/locked``.
    @discardableResult
    func update<Result: Sendable>(_ change: @escaping @Sendable (inout ClientState) -> Result) async throws -> Result {
        let pending = unsaved
        do {
            let (result, state) = try await limit.run { [store] in
                try await store.update { state in
                    if let pending { state.merge(pending) }
                    return (change(&state), state)
                }
            }
            lastRead = state
            // Changes that came in between stay for the next time.
            if unsaved == pending { unsaved = nil }
            return result
        } catch ClientStoreError.locked {
            throw ClientStoreError.locked
        } catch {
            var state = unsaved ?? lastRead ?? ClientState()
            let result = change(&state)
            unsaved = state
            return result
        }
    }
}
