import Foundation
import SecurePushEnvelope

/// Reading payloads, encrypted or not (contract, section F).
extension SecurePushClient {
    /// A payload, opened as far as this device can.
    enum Opening: Sendable {
        /// It was not encrypted, or it has been opened.
        case opened(SecretNotification)
        /// This device will never open it.
        case closed(DiagnosticCode)
        /// The key cannot be read before the first unlock.
        case locked
        /// The key cannot be read, or the envelope cannot be noted now.
        case failed(DiagnosticCode)
    }

    /// The recipient of envelopes: the user and the device.
    struct EnvelopeReader: Sendable {
        /// The user of this device.
        var userName: String
        /// The installation's ID.
        var device: String
        /// The device's keys, newest first.
        var keys: [any EnvelopePrivateKey]
    }

    /// Opens an end-to-end encrypted payload, and notes that it was opened. What is not encrypted stays as it is, unless
    /// the app requires encryption.
    func open(_ secret: SecretNotification) async -> Opening {
        // A string is no envelope, and may be long, so it is not parsed again.
        if secret.message != nil { return plain(secret) }
        return await open(secret) { [keeper, limit, store] in
            let keys = try await limit.run { try await store.envelopeKeys() }.keys
            let state = try await keeper.read()
            return EnvelopeReader(
                userName: state.owner?.text ?? "", device: state.registration.installationID.map(Self.text) ?? "",
                keys: keys)
        }
    }

    func open(
        _ secret: SecretNotification, as reader: @Sendable () async throws -> EnvelopeReader
    ) async -> Opening {
        do {
            guard let envelope = try Envelope(payload: secret.json) else { return plain(secret) }
            let reader = try await reader()
            let content = try envelope.open(
                for: reader.userName, device: reader.device, with: reader.keys, senderKeys: configuration.senderKeys)
            try await verify(content, of: secret.id)
            return .opened(secret.with(content))
        } catch let error as EnvelopeError {
            return Self.opening(after: error)
        } catch ClientStoreError.locked {
            return .locked
        } catch is NotNoted {
            return .failed(.notStored)
        } catch {
            return .failed(.noKey)
        }
    }

    private func plain(_ secret: SecretNotification) -> Opening {
        if configuration.requiresEncryption { return .closed(.notEncrypted) }
        var secret = secret
        if secret.message == nil { secret.message = PushMessage(json: Data(secret.json.utf8)) }
        return .opened(secret)
    }

    /// The store could not note that an envelope was opened.
    private struct NotNoted: Error {}

    /// Checks the times of an envelope, and notes that it is opened under a notification.
    private func verify(_ content: OpenedEnvelope, of id: PushID) async throws {
        let now = Int(clock.date.timeIntervalSince1970.rounded(.down))
        // An envelope outside the allowed time is refused without a record.
        guard content.isTimely(at: now) else { throw EnvelopeError.replayed }
        let record = EnvelopeRecord(content.id, under: id, createdAt: Int64(content.createdAt))
        let isNew: Bool
        do {
            isNew = try await limit.run { [store] in try await store.remember(record) }
        } catch ClientStoreError.locked {
            throw ClientStoreError.locked
        } catch {
            throw NotNoted()
        }
        try content.verify(wasOpenedBefore: !isNew, now: now)
    }

    private static func opening(after error: EnvelopeError) -> Opening {
        switch error {
        case .wrongSender: .closed(.unknownSender)
        case .notForThisDevice: .closed(.noKey)
        case .keyUnavailable: .failed(.noKey)
        case .replayed: .closed(.replayed)
        case .expired: .closed(.expired)
        default: .closed(.unopenable)
        }
    }
}

extension SecretNotification {
    /// The notification with the content of its envelope.
    fileprivate func with(_ envelope: OpenedEnvelope) -> SecretNotification {
        var copy = self
        copy.isEncrypted = true
        copy.json = String(decoding: envelope.content, as: UTF8.self)
        copy.message = PushMessage(json: envelope.content)
        if let seconds = envelope.expiresAt {
            let moment = Date(timeIntervalSince1970: TimeInterval(seconds))
            copy.expiresAt = min(moment, expiresAt ?? moment)
        }
        return copy
    }
}
