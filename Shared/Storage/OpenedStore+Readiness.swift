import SecurePushCore

extension OpenedStore {
    /// `nil` when the store can be written to, else what is wrong, for an operator.
    public func readiness() async -> String? {
        do {
            try await store.ping(timeout: .seconds(1))
            return nil
        } catch {
            return "\(error)"
        }
    }
}
