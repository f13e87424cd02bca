package import Foundations
package import Logging

/// The two values that a signed push has beside the ID.
package struct PushSignature: Sendable, Hashable {
    /// `ts`: when the push was signed, in seconds since the Unix epoch.
    package let timestamp: Int64
    /// `sig`: the 64 bytes r‖s of the ES256 signature in base64url without padding, 86 characters.
    package let signature: String

    package init(timestamp: Int64, signature: String) {
        self.timestamp = timestamp
        self.signature = signature
    }

    /// The bytes that are signed. The text of two different pushes differs, because neither an ID nor a user's name has
    /// a line feed.
    ///
    /// - Parameters:
    ///   - timestamp: the `ts` of the push.
    ///   - withdraw: whether the push withdraws the notification.
    package static func signedText(
        _ id: NotificationID, recipient: UserName, timestamp: Int64, withdraw: Bool = false
    ) -> [UInt8] {
        let end = withdraw ? "\nwithdraw\n" : "\n"
        return Array("securepush-push-v1\n\(id)\n\(recipient.text)\n\(timestamp)\(end)".utf8)
    }
}

/// Signs pushes with the key of a file, and reads the file again when it changes.
package final class PushSigner: Sendable {
    private let key: @Sendable () -> PushSigningKey
    /// The file of the key, for `/readyz`, metrics and SIGHUP. While it cannot be used, the last key stays in use.
    package let source: ReloadableSource?

    /// Reads the key; see ``PushSigningKey``.
    ///
    /// - Parameters:
    ///   - path: the file (`PUSH_SIGNING_KEY_FILE`).
    ///   - logger: gets an error when a changed file cannot be used. The last key stays in use then.
    /// - Throws: ``FileError`` if the file is missing, unreadable or malformed.
    package init(path: String, logger: Logger) throws(FileError) {
        let file = try ReloadingFile(
            path: path, logger: logger, message: "The changed key for pushes cannot be used; the last key stays in use"
        ) { try PushSigningKey(pem: $0) }
        key = { file.current }
        source = file.source("PUSH_SIGNING_KEY_FILE")
    }

    /// A signer with one key that never changes.
    package init(key: PushSigningKey) {
        self.key = { key }
        source = nil
    }

    /// Signs a push. One signature is valid on every platform, so a notification needs one for all its pushes.
    ///
    /// - Parameters:
    ///   - withdraw: whether the push withdraws the notification.
    ///   - now: the time of the push. A device ignores pushes that are older than 28 days.
    /// - Returns: `nil` only if the library fails for lack of memory.
    package func sign(
        _ id: NotificationID, for recipient: UserName, withdraw: Bool = false, now: Timestamp
    ) -> PushSignature? {
        let timestamp = now.seconds
        let text = PushSignature.signedText(id, recipient: recipient, timestamp: timestamp, withdraw: withdraw)
        return key().signature(of: text).map {
            PushSignature(timestamp: timestamp, signature: Base64.encode($0, .url))
        }
    }
}
