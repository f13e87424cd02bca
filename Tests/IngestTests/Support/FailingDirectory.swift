import SecurePushCore

/// A directory of notifications and of devices' keys that fails.
struct FailingDirectory: SenderNotifications, EncryptionKeyStore {
    let error: StorageError

    func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord? { throw error }
    func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage { throw error }
    func revoke(_ id: NotificationID, sender: String, now: Timestamp) async throws -> Bool { throw error }
    func resend(_ id: NotificationID, sender: String, now: Timestamp) async throws -> ReplayDecision? { throw error }
    func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, now: Timestamp
    ) async throws -> Bool { throw error }
    func encryptionKeys(of owner: UserName, limit: Int) async throws -> [DeviceEncryptionKey] { throw error }
}
