extension MemoryStore: EncryptionKeyStore {
    package func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, now: Timestamp
    ) async throws -> Bool {
        let folded = MemoryStore.key(installation)
        guard let known = installations[folded], known.owner == owner else { return false }
        if known.encryptionKey?.key != key {
            installations[folded]?.encryptionKey = DeviceEncryptionKey(deviceID: known.id, key: key, createdAt: now)
        }
        return true
    }

    package func encryptionKeys(of owner: UserName, limit: Int) async throws -> [DeviceEncryptionKey] {
        installations.values.filter { $0.owner == owner }
            .compactMap(\.encryptionKey)
            .sorted { $0.deviceID.utf8.lexicographicallyPrecedes($1.deviceID.utf8) }
            .prefix(max(limit, 0)).map(\.self)
    }
}
