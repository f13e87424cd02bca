package import Foundations

/// The pending notices about new keys for end-to-end encryption (`E2E_KEY_NOTICE`). A notice is in the row of its
/// installation: it is stored together with the key, and removed with the installation.
package protocol KeyNoticeStore: Sendable {
    /// The longest due notice. No other call gets it before `until`.
    func leaseKeyNotice(now: Timestamp, until: Timestamp) async throws -> KeyNotice?

    /// Ends a leased notice after its user was told, and with it the user's other ones about keys that were registered
    /// by then.
    func settle(_ notice: KeyNotice, told: Timestamp) async throws

    /// Makes a leased notice due again at a time. Without effect if another process has leased it since.
    func postpone(_ notice: KeyNotice, until: Timestamp) async throws
}

/// A notice that was leased.
package struct KeyNotice: Sendable, Hashable {
    /// The ID of the installation with the new key.
    package var installation: String
    package var owner: UserName
    /// The end of the lease.
    package var until: Timestamp

    package init(installation: String, owner: UserName, until: Timestamp) {
        self.installation = installation
        self.owner = owner
        self.until = until
    }

    /// A key that has at least this age is replaced without a notice. Devices rotate their keys after 30 days; the rest
    /// is for clocks.
    ///
    /// If an attacker replaces an old key, the user is told later: at its next start the device registers its own key
    /// again, which replaces the attacker's young key.
    package static let rotationAge = Duration.seconds(25 * 86_400)
}
