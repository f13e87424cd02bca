import Foundation
import SecurePushEnvelope

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

extension SecurePushClient {
    /// Registers the device for the user who is logged in, unless that is done: again when the channel, the tags or the
    /// user change, and when ``ClientLimits/renewsRegistrationAfter`` has passed. Call it at each start of the app.
    ///
    /// The installation's ID is kept. When the server has given it up (410), or it belongs to another user (404), the
    /// client makes a new one.
    ///
    /// - Returns: the installation's ID.
    /// - Throws: ``SecurePushFailure``.
    @discardableResult
    public func register(_ device: PushDevice) async throws -> String {
        let deadline = begin().deadline
        do { try await adoptUser() } catch { throw SecurePushFailure(code: .locked) }
        guard let userName = await credentials.userName() else { throw SecurePushFailure(code: .loggedOut) }
        await refreshPushKeys(until: deadline)
        let record = try await stored { $0.registration }
        let digest = Self.digest(of: device)
        let age = clock.date.timeIntervalSince1970 - (record.registeredAt ?? -.infinity)
        if record.userName == userName, record.digest == digest, age >= 0,
            age < configuration.limits.renewsRegistrationAfter, let id = record.installationID
        {
            try await registerKey(of: id, until: deadline)
            return id
        }
        // Another user's messages are not for the same key.
        if let former = record.userName, former != userName { try await forgetKey() }
        for known in [record.installationID, nil] {
            let id = known ?? UUID().uuidString.lowercased()
            // Stored first: after a crash the same installation is registered again, not a second one.
            try await stored { $0.registration = RegistrationRecord(installationID: id) }
            switch await connection.send(Self.registration(of: device, as: id), until: deadline) {
            case .success:
                let now = clock.date.timeIntervalSince1970
                try await stored {
                    $0.registration = RegistrationRecord(
                        installationID: id, userName: userName, digest: digest, registeredAt: now)
                }
                try await registerKey(of: id, until: deadline)
                return id
            case .refused(404) where known != nil, .refused(410) where known != nil: continue
            case .refused(let status): throw SecurePushFailure(code: .status(status))
            case .failed(let code), .loggedOut(let code): throw SecurePushFailure(code: code)
            case .locked: throw SecurePushFailure(code: .locked)
            }
        }
        throw SecurePushFailure(code: .status(410))
    }

    /// Removes the device from the server, and forgets the user's notifications. Call it before the log-out, while the
    /// credentials are valid.
    ///
    /// - Throws: ``SecurePushFailure`` if the server still has the device. Pushes for the user still come then.
    public func unregister() async throws {
        let deadline = begin().deadline
        // Forgotten first: after a crash the device is not taken for registered.
        let id = try await stored { state in
            defer { state.registration = RegistrationRecord(installationID: state.registration.installationID) }
            return state.registration.installationID
        }
        if let id {
            switch await connection.send(.init(method: "DELETE", path: "api/installations/\(id)"), until: deadline) {
            case .success, .refused(404), .refused(410): break
            case .refused(let status): throw SecurePushFailure(code: .status(status))
            case .failed(let code), .loggedOut(let code): throw SecurePushFailure(code: code)
            case .locked: throw SecurePushFailure(code: .locked)
            }
        }
        try await forgetKey()
        let ids = try await stored { $0.forget(newOwner: nil) }
        await presenter.remove(ids)
        await presenter.removePrompt()
        await setBadge(0)
    }

    /// Reads the server's keys for pushes, so that it can rotate them. A failure changes nothing.
    private func refreshPushKeys(until deadline: TimeInterval) async {
        guard configuration.pushKeys != nil, configuration.refreshesPushKeys else { return }
        let call = RetrievalConnection.Call(path: "api/push-keys", isAuthorized: false)
        guard case .success(let response) = await connection.send(call, until: deadline),
            let keys = try? PushKeySet(jwkSet: response.body)
        else { return }
        _ = try? await keeper.update { $0.pushKeys = keys }
    }

    /// Changes the state.
    ///
    /// - Throws: ``SecurePushFailure`` before the first unlock.
    func stored<Result: Sendable>(
        _ change: @escaping @Sendable (inout ClientState) -> Result
    ) async throws -> Result {
        do { return try await keeper.update(change) } catch { throw SecurePushFailure(code: .locked) }
    }

    private struct Document: Encodable {
        var installationId: String
        var platform: String
        var pushChannel: String
        var tags: [String]?
    }

    private static func registration(of device: PushDevice, as id: String) -> RetrievalConnection.Call {
        let document = Document(
            installationId: id, platform: device.platform.rawValue, pushChannel: device.channel,
            tags: device.tags.isEmpty ? nil : device.tags)
        return RetrievalConnection.Call(
            method: "PUT", path: "api/installations/\(id)", json: try? JSONEncoder().encode(document))
    }

    /// A digest, so that the channel itself is not stored.
    private static func digest(of device: PushDevice) -> String {
        let text = ([device.platform.rawValue, device.channel] + device.tags).joined(separator: "\n")
        return Base64URL.encode(Data(SHA256.hash(data: Data(text.utf8))))
    }
}
