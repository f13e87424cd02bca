#if canImport(Security)
import Foundation
import Security

/// A store that keeps the credentials in the Keychain, and the rest in files.
///
/// The Keychain item can be read after the first unlock, also while the device is locked again, and stays on this
/// device. With an access group, the app and its extension share it.
public struct KeychainStore: Sendable {
    private let files: FileClientStore
    private let service: String
    private let accessGroup: String?

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - files: the store for the rest: a folder of the app group's container.
    ///   - service: the name of the Keychain item.
    ///   - accessGroup: the shared Keychain access group, such as `TEAMID.com.example.shared`; `nil` for the app alone.
    public init(files: FileClientStore, service: String = "securepush", accessGroup: String?) {
        self.files = files
        self.service = service
        self.accessGroup = accessGroup
    }
}

extension KeychainStore: ClientStore {
    public func read() async throws -> ClientState { try await files.read() }

    public func update<Result: Sendable>(
        _ change: @Sendable (inout ClientState) -> Result
    ) async throws -> Result {
        try await files.update(change)
    }

    public func claimLockedNotice() async -> Bool { await files.claimLockedNotice() }

    /// Reads the credentials from the Keychain; `nil` if there are none, or if they were damaged.
    ///
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/locked`` before the first unlock.
    public func credentials() async throws -> StoredCredentials? {
        var query = item
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw Self.error(of: status, otherwise: .unreadable) }
        // An item that cannot be read is replaced at the next log-in.
        guard let data = found as? Data else { return nil }
        return try? JSONDecoder().decode(StoredCredentials.self, from: data)
    }

    /// Stores the credentials in the Keychain; `nil` removes them. They stay on this device, and can be read after the
    /// first unlock.
    ///
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/locked`` before the first unlock.
    public func save(_ credentials: StoredCredentials?) async throws {
        guard let credentials else {
            let status = SecItemDelete(item as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw Self.error(of: status, otherwise: .unwritable)
            }
            return
        }
        guard let data = try? JSONEncoder().encode(credentials) else { throw ClientStoreError.unwritable }
        let value: [String: Any] = [
            kSecValueData as String: data,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(item as CFDictionary, value as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(item.merging(value) { $1 } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw Self.error(of: status, otherwise: .unwritable) }
    }

    private var item: [String: Any] {
        var item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: "credentials",
        ]
        if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
        #if os(macOS)
        item[kSecUseDataProtectionKeychain as String] = true
        #endif
        return item
    }

    /// Before the first unlock, the Keychain would have to ask the user, and may not.
    private static func error(of status: OSStatus, otherwise error: ClientStoreError) -> ClientStoreError {
        status == errSecInteractionNotAllowed ? .locked : error
    }
}
#endif
