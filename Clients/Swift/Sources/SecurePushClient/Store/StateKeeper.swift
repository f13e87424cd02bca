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

    init(store: any ClientStore) {
        self.store = store
    }

    /// The state.
    ///
    /// - Throws: ``ClientStoreError/locked``. Other errors are an empty state.
    func read() async throws -> ClientState {
        do {
            var state = try await store.read()
            if let unsaved { state.merge(unsaved) }
            lastRead = state
            return state
        } catch ClientStoreError.locked {
            throw ClientStoreError.locked
        } catch {
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
            let (result, state) = try await store.update { state in
                if let pending { state.merge(pending) }
                return (change(&state), state)
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
