/// Whether a payload key may be dropped.
public protocol PayloadKeyUse: Sendable {
    /// How many payloads that can still be read at `now` are sealed with the key of this ID, counted up to `limit`.
    ///
    /// There is no index for it: an operator's question, that reads through all payloads when there are none.
    func payloads(sealedWith keyID: String, limit: Int, now: Timestamp) async throws -> Int
}
