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
