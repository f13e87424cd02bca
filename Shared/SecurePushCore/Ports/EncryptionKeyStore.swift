/// The public keys of installations for end-to-end encryption.
///
/// A key belongs to an installation of one user: it goes when the installation is removed, for whatever reason, and
/// when another user takes the installation over. The hub has no part in it, so a key changes without a lease
/// (``DeviceLeases``).
package protocol EncryptionKeyStore: Sendable {
    /// Stores the key of an installation; the case of its ID does not matter. An earlier key is gone then. The same key
    /// again changes nothing.
    ///
    /// - Returns: whether the user has such an installation.
    func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, now: Timestamp
    ) async throws -> Bool

    /// The keys of a user's installations, in the order of the bytes of the installations' IDs. Installations without a
    /// key are absent. An unknown user has none.
    func encryptionKeys(of owner: UserName, limit: Int) async throws -> [DeviceEncryptionKey]
}
