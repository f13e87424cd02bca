public import Logging

/// Seals and opens payloads with the keys of a file, which is read again when it changes.
public final class PayloadSealer: Sendable {
    private let file: ReloadingFile<PayloadKeyRing>

    /// Reads the key ring; see ``PayloadKeyRing``.
    ///
    /// - Parameters:
    ///   - path: the key ring file (`PAYLOAD_KEYS_FILE`).
    ///   - logger: told when a changed file cannot be used; the keys read before stay in use.
    /// - Throws: ``FileError`` when the file is missing, unreadable or malformed.
    public init(path: String, logger: Logger) throws(FileError) {
        file = try ReloadingFile(
            path: path,
            report: { problem in
                logger.error(
                    "The changed key ring cannot be used; the keys read before stay in use.",
                    metadata: ["path": "\(problem.path)", "problem": "\(problem.message)"])
            },
            parse: { try PayloadKeyRing($0) })
    }

    /// The file of the key ring, for `/readyz`, metrics and SIGHUP. While it cannot be used the keys read before stay
    /// in use: they open payloads that are stored already, and let nobody in.
    public var source: ReloadableSource { file.source("PAYLOAD_KEYS_FILE") }

    /// The keys as they are now.
    public var keyRing: PayloadKeyRing { file.current }

    /// Seals a payload with the first key; see ``PayloadKeyRing/seal(_:id:recipient:)``.
    public func seal(
        _ payload: [UInt8], id: NotificationID, recipient: UserName
    ) throws(PayloadError) -> SealedPayload {
        try file.current.seal(payload, id: id, recipient: recipient)
    }

    /// Opens a payload; see ``PayloadKeyRing/open(_:id:recipient:)``. A key that is not known yet has the file looked
    /// at once more, for another service may have begun to seal with a new key a moment ago.
    public func open(_ sealed: SealedPayload, id: NotificationID, recipient: UserName) throws(PayloadError) -> [UInt8] {
        do throws(PayloadError) {
            return try file.current.open(sealed, id: id, recipient: recipient)
        } catch  where error.code == .unknownKey {
            return try file.refreshed().open(sealed, id: id, recipient: recipient)
        }
    }

    /// What tells texts apart without telling what they hold: a MAC under a key derived from the first key, so that a
    /// copy of the database alone does not let anybody try out what a short text was.
    ///
    /// - Parameters:
    ///   - text: any bytes.
    ///   - context: what the text belongs to; equal texts of different contexts have different fingerprints, so that
    ///     not even their being equal shows.
    /// - Returns: the key's ID and 32 bytes of HMAC-SHA-256 (RFC 2104).
    public func fingerprint(of text: [UInt8], context: [UInt8]) -> [UInt8] {
        file.current.fingerprint(of: text, context: context)
    }

    /// Whether a fingerprint is that of a text, by the key that it was made with and in constant time.
    ///
    /// - Returns: `nil` when that cannot be told: its key is no longer in the ring. A key that is not known yet has the
    ///   file looked at once more, as in ``open(_:id:recipient:)``.
    public func isFingerprint(_ fingerprint: [UInt8], of text: [UInt8], context: [UInt8]) -> Bool? {
        var match = file.current.match(fingerprint, of: text, context: context)
        if match == .unknownKey { match = file.refreshed().match(fingerprint, of: text, context: context) }
        return match == .unknownKey ? nil : match == .same
    }
}
