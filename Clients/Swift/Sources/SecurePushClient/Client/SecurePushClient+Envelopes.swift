import Foundation
import SecurePushEnvelope

/// End-to-end encryption (contract, section F).
extension SecurePushClient {
    /// A payload, opened as far as this device can.
    enum Opening: Sendable {
        /// It was not encrypted, or it has been opened.
        case opened(SecretNotification)
        /// This device will never open it.
        case closed(DiagnosticCode)
        /// The key cannot be read before the first unlock.
        case locked
        /// The key cannot be read now.
        case failed(DiagnosticCode)
    }

    /// Opens an end-to-end encrypted payload; others stay as they are.
    func open(_ secret: SecretNotification) async -> Opening {
        guard Envelope.isEnvelope(secret.json) else { return .opened(secret) }
        do {
            let key = try await limit.run { [store] in try await store.envelopeKey() }
            let state = try await keeper.read()
            return Self.open(
                secret, for: state.owner?.text ?? "", device: state.registration.installationID.map(Self.text) ?? "",
                with: key)
        } catch ClientStoreError.locked {
            return .locked
        } catch {
            return .failed(.noKey)
        }
    }

    /// Opens an envelope.
    ///
    /// - Parameters:
    ///   - userName: the user of this device.
    ///   - device: the installation's ID.
    ///   - key: the device's key; `nil` if it has none.
    static func open(
        _ secret: SecretNotification, for userName: String, device: String, with key: EnvelopePrivateKey?
    ) -> Opening {
        do throws(EnvelopeError) {
            let content = try Envelope.open(secret.json, for: userName, device: device, with: key)
            var opened = secret
            guard let json = String(data: content, encoding: .utf8),
                let text = try? SecretNotification.text(of: content)
            else { return .closed(.unopenable) }
            (opened.json, opened.text) = (json, text)
            return .opened(opened)
        } catch {
            return .closed(error == .notForThisDevice ? .noKey : .unopenable)
        }
    }

    /// Registers the public key of this device, which the server forgets when it replaces or removes the installation,
    /// or when another user takes it over. The first call for a user makes the key.
    ///
    /// - Throws: ``SecurePushFailure`` if the server may not have the key. The device is registered then, unless the
    ///   status is 404, and gets notifications that are not encrypted.
    func registerKey(of id: UUID, for userName: UserName, until deadline: TimeInterval) async throws {
        // Another user's messages are not for the same key. The server has forgotten the former one by now.
        let owner = try await stored { $0.keyOwner }
        if owner != userName, owner != nil || configuration.encryptsEndToEnd { try await forgetKey() }
        guard configuration.encryptsEndToEnd else { return }
        var kept: EnvelopePrivateKey?
        do {
            kept = try await limit.run { [store] in
                if let known = try await store.envelopeKey() { return known }
                return try await store.keep(EnvelopePrivateKey())
            }
        } catch {
            throw SecurePushFailure(code: error as? ClientStoreError == .locked ? .locked : .noKey)
        }
        guard let key = kept?.publicKey else { return }
        let text = Base64URL.encode(key.rawRepresentation)
        let known = try await stored { state in
            state.keyOwner = userName
            return state.registration.publicKey
        }
        let call = RetrievalCall(
            method: "PUT", path: "api/devices/\(Self.text(id))/key", json: Data(key.jwk.utf8), success: 204)
        switch await connection.send(call, until: deadline) {
        case .success: try await stored { $0.registration.publicKey = text }
        case .refused(404): throw SecurePushFailure(code: .status(404))
        // The server has got it before. The next call sends it again.
        case let outcome: if known != text { try outcome.response() }
        }
    }

    /// Removes the device's key. What was encrypted for it can never be read again.
    ///
    /// - Throws: ``SecurePushFailure`` if it is still there.
    func forgetKey() async throws {
        do { _ = try await limit.run { [store] in try await store.keep(nil) } } catch {
            throw SecurePushFailure(code: error as? ClientStoreError == .locked ? .locked : .noKey)
        }
        try await stored { $0.keyOwner = nil }
    }
}

extension SecretNotification {
    /// The text to show for a JSON text.
    ///
    /// - Throws: if it is no JSON.
    fileprivate static func text(of json: Data) throws -> String {
        try AnswerReader.read(json) { reader, span in
            reader.isString(span) ? try reader.string(span) : reader.json(span)
        }
    }
}
