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
    /// client makes a new one. With ``SecurePushConfiguration/encryptsEndToEnd``, each call sends the device's public
    /// key, because the server forgets it with the installation. The next call and ``catchUp()`` send it again.
    ///
    /// - Returns: the installation's ID.
    /// - Throws: ``SecurePushFailure``. With a ``SecurePushFailure/installationID`` the device is registered, and the
    ///   server may not have its key.
    @discardableResult
    public func register(_ device: PushDevice) async throws -> String {
        try await afterLastRegistration { client in try await client.registerNow(device) }
    }

    private func registerNow(_ device: PushDevice) async throws -> String {
        let deadline = begin().deadline
        do { try await adoptUser() } catch { throw SecurePushFailure(code: .locked) }
        guard let name = try await knownUserName() else { throw SecurePushFailure(code: .loggedOut) }
        let userName = UserName(name)
        await refreshPushKeys(by: Self.pushKeysCall, until: deadline)
        try await forgetInstallationOfOtherDevice()
        let record = try await stored { $0.registration }
        let digest = Self.digest(of: device)
        let age = clock.date.timeIntervalSince1970 - (record.registeredAt ?? -.infinity)
        if record.userName == userName, record.digest == digest, age >= 0,
            age < configuration.limits.renewsRegistrationAfter, let id = record.installationID
        {
            do {
                try await registerKey(of: id, for: userName, until: deadline)
                return Self.text(id)
            } catch let failure as SecurePushFailure where failure.code == .status(404) {
                // The server no longer has the installation: it is registered anew.
            }
        }
        for known in [record.installationID, nil] {
            let id = known ?? UUID()
            // Stored first: after a crash the same installation is registered again, not a second one.
            try await stored { $0.registration = RegistrationRecord(installationID: id) }
            switch await connection.send(Self.registration(of: device, as: id), until: deadline) {
            case .success:
                let now = clock.date.timeIntervalSince1970
                try await stored {
                    $0.registration = RegistrationRecord(
                        installationID: id, userName: userName, digest: digest, registeredAt: now)
                }
                try await registerKey(of: id, for: userName, until: deadline)
                return Self.text(id)
            case .refused(404) where known != nil, .refused(410) where known != nil: continue
            case let outcome: try outcome.response()
            }
        }
        throw SecurePushFailure(code: .status(410))
    }

    /// Forgets the installation of a state that has come from another device, such as by a backup: two devices with one
    /// ID would take it from each other. A state of an older version does not say where it comes from.
    func forgetInstallationOfOtherDevice() async throws {
        guard let mark = try? await limit.run({ [store] in try await store.deviceMark() }) else { return }
        try await stored { state in
            if let known = state.deviceMark, known != mark { state.registration = RegistrationRecord() }
            state.deviceMark = mark
        }
    }

    /// Runs registrations and unregistrations one after another, so that the stored record is that of the last request.
    func afterLastRegistration<Value: Sendable>(
        _ work: @escaping @Sendable (SecurePushClient) async throws -> Value
    ) async throws -> Value {
        let last = lastRegistration
        let task = Task {
            await last?.value
            return try await work(self)
        }
        lastRegistration = Task { _ = await task.result }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
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

    static func text(_ id: UUID) -> String { id.uuidString.lowercased() }

    static func path(of id: UUID) -> String { "api/installations/\(text(id))" }

    private static func registration(of device: PushDevice, as id: UUID) -> RetrievalCall {
        let document = Document(
            installationId: text(id), platform: device.platform.rawValue, pushChannel: device.channel,
            tags: device.tags.isEmpty ? nil : device.tags)
        return RetrievalCall(method: "PUT", path: path(of: id), json: try? JSONEncoder().encode(document))
    }

    /// A digest, so that the channel itself is not stored.
    private static func digest(of device: PushDevice) -> String {
        let text = ([device.platform.rawValue, device.channel] + device.tags).joined(separator: "\n")
        return Base64URL.encode(Data(SHA256.hash(data: Data(text.utf8))))
    }
}
