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
            let key = try await store.envelopeKey()
            let state = try await keeper.read()
            return Self.open(
                secret, for: state.owner ?? "", device: state.registration.installationID ?? "", with: key)
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

    /// Registers the public key of this device, unless the server has it. The first call makes the key.
    ///
    /// - Throws: ``SecurePushFailure``. The device is registered then, and gets what is not encrypted.
    func registerKey(of id: String, until deadline: TimeInterval) async throws {
        guard configuration.encryptsEndToEnd else { return }
        var kept: EnvelopePrivateKey?
        do {
            kept = try await store.envelopeKey()
            if kept == nil { kept = try await store.keep(EnvelopePrivateKey()) }
        } catch {
            throw SecurePushFailure(code: error as? ClientStoreError == .locked ? .locked : .noKey)
        }
        guard let key = kept?.publicKey else { return }
        let text = Base64URL.encode(key.rawRepresentation)
        if try await stored({ $0.registration.publicKey }) == text { return }
        let call = RetrievalConnection.Call(method: "PUT", path: "api/devices/\(id)/key", json: Data(key.jwk.utf8))
        switch await connection.send(call, until: deadline) {
        case .success: try await stored { $0.registration.publicKey = text }
        case .refused(let status): throw SecurePushFailure(code: .status(status))
        case .failed(let code), .loggedOut(let code): throw SecurePushFailure(code: code)
        case .locked: throw SecurePushFailure(code: .locked)
        }
    }

    /// Removes the device's key. What was encrypted for it can never be read again.
    ///
    /// - Throws: ``SecurePushFailure`` if it is still there.
    func forgetKey() async throws {
        do { _ = try await store.keep(nil) } catch {
            throw SecurePushFailure(code: error as? ClientStoreError == .locked ? .locked : .noKey)
        }
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
