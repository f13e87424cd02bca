import Foundation
import SecurePushEnvelope

/// The device's keys for end-to-end encryption (contract, section F).
extension SecurePushClient {
    /// The fingerprint of the public key with which senders encrypt for this device: 8 groups of 4 hexadecimal digits.
    /// `nil` if the device has no key. The user compares it with the one that a sender sees.
    ///
    /// - Throws: ``SecurePushFailure`` if the store cannot be read.
    public var encryptionKeyFingerprint: String? {
        get async throws {
            do {
                return try await limit.run { [store] in try await store.envelopeKeys() }.newest?.publicKey.fingerprint
            } catch {
                throw Self.failure(of: error)
            }
        }
    }

    /// Registers the public key of this device, which the server forgets when it replaces or removes the installation,
    /// or when another user takes it over. The first call for a user makes the key, and a call after 30 days the next.
    ///
    /// - Throws: ``SecurePushFailure`` if the server may not have the key. It has the installation's ID, unless the
    ///   server does not have the installation (404) or the user has logged out.
    func registerKey(of id: UUID, for userName: UserName, until deadline: TimeInterval) async throws {
        do {
            try await sendKey(of: id, for: userName, until: deadline)
        } catch let failure as SecurePushFailure where ![.status(404), .loggedOut].contains(failure.code) {
            throw SecurePushFailure(code: failure.code, installationID: Self.text(id))
        }
    }

    private func sendKey(of id: UUID, for userName: UserName, until deadline: TimeInterval) async throws {
        // Another user's messages are not for the same key. The server has forgotten the former one by now.
        let owner = try await stored { $0.keyOwner }
        if owner != userName, owner != nil || configuration.encryptsEndToEnd { try await forgetKeys() }
        guard configuration.encryptsEndToEnd else { return }
        let now = clock.date.timeIntervalSince1970
        let ring = try await changeKeys { $0.renew(at: now) }
        guard let jwk = ring.newest?.publicKey.jwk else { throw SecurePushFailure(code: .noKey) }
        let known = try await stored { state in
            state.keyOwner = userName
            return state.registration.publicKey
        }
        let call = RetrievalCall(
            method: "PUT", path: "api/devices/\(Self.text(id))/key", json: Data(jwk.utf8), success: 204)
        switch await connection.send(call, until: deadline) {
        case .success:
            try await stored { $0.registration.publicKey = jwk }
            // After a failure the next call repeats it.
            _ = try? await changeKeys { $0.settle(at: now) }
        case .refused(404): throw SecurePushFailure(code: .status(404))
        // The server had this key before. The next call sends it again.
        case let outcome: if known != jwk { try outcome.response() }
        }
    }

    /// Makes the next key if it is time, and registers a key that the server has not got. The app may be opened without
    /// a registration. A failure changes nothing: the next start of the app tries again.
    func renewKey(until deadline: TimeInterval) async {
        guard configuration.encryptsEndToEnd, let state = try? await keeper.read(),
            let id = state.registration.installationID, let user = state.registration.userName,
            let ring = try? await limit.run({ [store] in try await store.envelopeKeys() }),
            ring.isDue(at: clock.date.timeIntervalSince1970)
                || ring.newest?.publicKey.jwk != state.registration.publicKey
        else { return }
        _ = try? await TimeLimit.run(until: deadline, on: clock) { [weak self] in
            try await self?.afterLastRegistration { client in
                guard let now = try? await client.keeper.read(), now.owner == user, now.registration.userName == user,
                    now.registration.installationID == id
                else { return }
                try await client.registerKey(of: id, for: user, until: deadline)
            }
        }
    }

    /// Removes the device's keys. Messages that were encrypted for them can never be read again.
    ///
    /// - Throws: ``SecurePushFailure`` if they are still there.
    func forgetKeys() async throws {
        try await changeKeys { $0 = EnvelopeKeyRing() }
        try await stored { $0.keyOwner = nil }
    }

    @discardableResult
    private func changeKeys(
        _ change: @escaping @Sendable (inout EnvelopeKeyRing) -> Void
    ) async throws -> EnvelopeKeyRing {
        do { return try await limit.run { [store] in try await store.changeEnvelopeKeys(change) } } catch {
            throw Self.failure(of: error)
        }
    }

    private static func failure(of error: any Error) -> SecurePushFailure {
        SecurePushFailure(code: error as? ClientStoreError == .locked ? .locked : .noKey)
    }
}
