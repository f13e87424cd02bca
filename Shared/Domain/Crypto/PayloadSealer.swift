package import Foundations
package import Logging

/// Seals and opens payloads with the keys of a file, and reads the file again when it changes.
package final class PayloadSealer: Sendable {
    private let file: ReloadingFile<PayloadKeyRing>

    /// Reads the key ring; see ``PayloadKeyRing``.
    ///
    /// - Parameters:
    ///   - path: the key ring file (`PAYLOAD_KEYS_FILE`).
    ///   - logger: gets an error when a changed file cannot be used. The last keys stay in use then.
    /// - Throws: ``FileError`` if the file is missing, unreadable or malformed.
    package init(path: String, logger: Logger) throws(FileError) {
        file = try ReloadingFile(
            path: path, logger: logger, message: "The changed key ring cannot be used; the last keys stay in use"
        ) { try PayloadKeyRing($0) }
    }

    /// The file of the key ring, for `/readyz`, metrics and SIGHUP. While it cannot be used, the last keys stay in use:
    /// they open stored payloads, and they grant nobody access.
    package var source: ReloadableSource { file.source("PAYLOAD_KEYS_FILE") }

    package var keyRing: PayloadKeyRing { file.current }

    /// Seals a payload with the first key; see ``PayloadKeyRing/seal(_:id:recipient:as:)``.
    package func seal(
        _ payload: [UInt8], id: NotificationID, recipient: UserName, as use: PayloadKeyRing.Use = .payload
    ) throws(PayloadError) -> SealedPayload {
        try file.current.seal(payload, id: id, recipient: recipient, as: use)
    }

    /// Whether the key of a payload is unknown. Another service may have just begun to seal with a new key: ``check()``
    /// finds it.
    package func isMissingKey(of sealed: SealedPayload) -> Bool {
        !file.current.keys.contains { $0.id == sealed.keyID }
    }

    /// Looks at the file, and waits for that a second at most.
    package func check() async { await file.check() }

    /// Opens a payload; see ``PayloadKeyRing/open(_:id:recipient:as:)``.
    package func open(
        _ sealed: SealedPayload, id: NotificationID, recipient: UserName, as use: PayloadKeyRing.Use = .payload
    ) throws(PayloadError) -> [UInt8] {
        do throws(PayloadError) {
            return try file.current.open(sealed, id: id, recipient: recipient, as: use)
        } catch  where error.code == .unknownKey {
            return try file.refreshed().open(sealed, id: id, recipient: recipient, as: use)
        }
    }

    /// The text of a recipient's answer; `nil` if there is none, or if it was destroyed.
    package func text(
        of answer: Answer, to id: NotificationID, recipient: UserName
    ) async throws(PayloadError) -> String? {
        guard let sealed = answer.text else { return nil }
        if isMissingKey(of: sealed) { await check() }
        return String(decoding: try open(sealed, id: id, recipient: recipient, as: .answer), as: UTF8.self)
    }

    /// Identifies a text without revealing it: a MAC with a key that is derived from the first key. Nobody who has only
    /// a copy of the database can find a short text by trying.
    ///
    /// - Parameters:
    ///   - text: any bytes.
    ///   - context: the purpose of the text. Equal texts with different contexts have different fingerprints, so that
    ///     nobody sees that they are equal.
    /// - Returns: the ID of the key and 32 bytes of HMAC-SHA-256 (RFC 2104).
    package func fingerprint(of text: [UInt8], context: [UInt8]) -> [UInt8] {
        file.current.fingerprint(of: text, context: context)
    }

    /// Whether a fingerprint is that of a text, compared in constant time.
    ///
    /// - Returns: `nil` if its key is not in the ring; ``check()`` may find it.
    package func isFingerprint(_ fingerprint: [UInt8], of text: [UInt8], context: [UInt8]) -> Bool? {
        var match = file.current.match(fingerprint, of: text, context: context)
        if match == .unknownKey { match = file.refreshed().match(fingerprint, of: text, context: context) }
        return match == .unknownKey ? nil : match == .same
    }
}
