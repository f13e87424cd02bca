#if canImport(Security)
import Foundation
import Security

/// A store that keeps the credentials and the keys for end-to-end encryption in the Keychain, and the rest in files.
///
/// The Keychain items can be read after the first unlock, also while the device is locked again, and stay on this
/// device. With an access group, the app and its extension share it.
///
/// The Keychain outlives the app: its items are still there when the app is deleted and installed again. The folder
/// goes with the app. So a file in it marks the installation, and without that file the items are removed.
public struct KeychainStore: Sendable {
    private let files: FileClientStore
    private let service: String
    private let accessGroup: String?

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - files: the store for the rest: a folder of the app group's container.
    ///   - service: the name of the Keychain items.
    ///   - accessGroup: the shared Keychain access group, such as `TEAMID.com.example.shared`; `nil` for the app alone.
    public init(files: FileClientStore, service: String = "securepush", accessGroup: String?) {
        self.files = files
        self.service = service
        self.accessGroup = accessGroup
    }
}

extension KeychainStore: ClientStore {
    /// Reads the state from the files.
    ///
    /// - Throws: ``ClientStoreError``.
    public func read() async throws -> ClientState { try await files.read() }

    /// Changes the state in the files; see ``FileClientStore/update(_:)``.
    ///
    /// - Throws: ``ClientStoreError``; then nothing has changed.
    public func update<Result: Sendable>(
        _ change: @Sendable (inout ClientState) -> Result
    ) async throws -> Result {
        // A new state must not replace the file that marks the installation.
        try await locked {}
        return try await files.update(change)
    }

    /// Claims the notice by a file: the Keychain is locked then.
    public func claimLockedNotice() async -> Bool { await files.claimLockedNotice() }

    /// Reads the credentials from the Keychain; `nil` if there are none, or if they were damaged.
    ///
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/locked`` before the first unlock.
    public func credentials() async throws -> StoredCredentials? {
        // An item that cannot be decoded is replaced at the next log-in.
        try await locked { try readCredentials() }
    }

    /// Replaces the credentials in the Keychain, if they are still the expected ones, under the lock of the files; `nil`
    /// removes them. They stay on this device, and can be read after the first unlock.
    ///
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/locked`` before the first unlock.
    public func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool {
        try await locked {
            guard try readCredentials() == expected else { return false }
            try write(try new.map(Self.encode), as: Self.credentialsName)
            return true
        }
    }

    /// Reads the private keys for end-to-end encryption from the Keychain; an empty ring if there are none, or if they
    /// were damaged.
    ///
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/locked`` before the first unlock.
    public func envelopeKeys() async throws -> EnvelopeKeyRing {
        try await locked { try readKeys() }
    }

    /// Replaces the private keys in the Keychain, if they are still the expected ones, under the lock of the files; an
    /// empty ring removes them.
    ///
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/locked`` before the first unlock.
    public func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool {
        try await locked {
            guard try readKeys() == expected else { return false }
            try write(new.entries.isEmpty ? nil : Self.encode(new), as: Self.keysName)
            return true
        }
    }

    /// Notes in the files that an envelope was opened.
    ///
    /// - Throws: ``ClientStoreError``.
    public func remember(_ envelope: EnvelopeRecord) async throws -> Bool { try await files.remember(envelope) }

    /// A Keychain item that stays on this device.
    ///
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/locked`` before the first unlock.
    public func deviceMark() async throws -> String? {
        try await locked {
            if let known = try read(Self.markName) { return String(decoding: known, as: UTF8.self) }
            let mark = UUID().uuidString
            try write(Data(mark.utf8), as: Self.markName)
            return mark
        }
    }

    /// Uses the Keychain while no other process does. Items of an earlier installation of the app are removed first.
    private func locked<Result: Sendable>(_ work: @Sendable () throws -> Result) async throws -> Result {
        try await files.locked(
            afterInstallation: {
                for name in [Self.credentialsName, Self.keysName, Self.markName] { try write(nil, as: name) }
            }, work)
    }

    private func readCredentials() throws -> StoredCredentials? {
        try read(Self.credentialsName).flatMap { try? JSONDecoder().decode(StoredCredentials.self, from: $0) }
    }

    private func readKeys() throws -> EnvelopeKeyRing {
        try read(Self.keysName).flatMap { try? JSONDecoder().decode(EnvelopeKeyRing.self, from: $0) }
            ?? EnvelopeKeyRing()
    }

    private static let markName = "device-mark"
    private static let credentialsName = "credentials"
    private static let keysName = "key"

    private static func encode(_ value: some Encodable) throws -> Data {
        guard let data = try? JSONEncoder().encode(value) else { throw ClientStoreError.unwritable }
        return data
    }

    private func read(_ name: String) throws -> Data? {
        var query = item(name)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw Self.error(of: status, otherwise: .unreadable) }
        return found as? Data
    }

    /// Replaces an item; `nil` removes it.
    private func write(_ data: Data?, as name: String) throws {
        guard let data else {
            let status = SecItemDelete(item(name) as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw Self.error(of: status, otherwise: .unwritable)
            }
            return
        }
        let value: [String: Any] = [
            kSecValueData as String: data,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(item(name) as CFDictionary, value as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(item(name).merging(value) { $1 } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw Self.error(of: status, otherwise: .unwritable) }
    }

    private func item(_ name: String) -> [String: Any] {
        var item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: name,
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
