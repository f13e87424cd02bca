public import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A store in files of one folder, which the app and its extension share (an app group's container on Apple's systems).
///
/// The files have mode 0600, and on Apple's systems they are unreadable until the first unlock after a start. A change
/// writes a new file, flushes it and renames it, under a lock that other processes see. A damaged state is put aside as
/// `state.json.damaged`, a damaged secret is removed, and the store begins anew.
public actor FileClientStore {
    private let folder: URL
    private let state: ProtectedFile
    private let secrets: ProtectedFile
    private let keys: ProtectedFile
    private let opened: ProtectedFile
    private let bootID: @Sendable () -> String
    /// Whether the mark of this installation is known to be there.
    private var isInstalled = false

    /// Makes a store.
    ///
    /// - Parameter folder: a folder of its own. It is created with mode 0700 when something is first stored.
    public init(folder: URL) {
        self.init(folder: folder, bootID: SystemBoot.id)
    }

    init(folder: URL, bootID: @escaping @Sendable () -> String) {
        self.folder = folder
        self.bootID = bootID
        state = ProtectedFile(url: folder.appendingPathComponent("state.json"))
        secrets = ProtectedFile(url: folder.appendingPathComponent("credentials.json"))
        keys = ProtectedFile(url: folder.appendingPathComponent("key.json"))
        opened = ProtectedFile(url: folder.appendingPathComponent("envelopes"))
    }
}

extension FileClientStore: ClientStore {
    /// Reads the state from its file; an empty one if there is none, or if it was damaged.
    ///
    /// - Throws: ``ClientStoreError``.
    public func read() async throws -> ClientState {
        try decode(ClientState.self, from: state) ?? ClientState()
    }

    /// Changes the state under the lock of the folder, and replaces the file as a whole if something differs.
    ///
    /// - Throws: ``ClientStoreError``; ``ClientStoreError/busy`` if another process holds the lock for too long.
    public func update<Result: Sendable>(
        _ change: @Sendable (inout ClientState) -> Result
    ) async throws -> Result {
        try await withLock {
            let before = try decode(ClientState.self, from: state) ?? ClientState()
            var after = before
            let result = change(&after)
            if after != before { try encode(after, to: state) }
            return result
        }
    }

    /// Reads the credentials from their file; `nil` if there are none.
    ///
    /// - Throws: ``ClientStoreError``.
    public func credentials() async throws -> StoredCredentials? {
        try decode(StoredCredentials.self, from: secrets)
    }

    /// Replaces the file of the credentials, if it still has the expected ones; `nil` removes it.
    ///
    /// - Throws: ``ClientStoreError``.
    public func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool {
        try await withLock {
            guard try decode(StoredCredentials.self, from: secrets) == expected else { return false }
            if let new { try encode(new, to: secrets) } else { try secrets.remove() }
            return true
        }
    }

    /// Reads the device's keys for end-to-end encryption from their file; an empty ring if there are none.
    ///
    /// - Throws: ``ClientStoreError``.
    public func envelopeKeys() async throws -> EnvelopeKeyRing {
        try decode(EnvelopeKeyRing.self, from: keys) ?? EnvelopeKeyRing()
    }

    /// Replaces the file of the keys for end-to-end encryption, if it still has the expected ones; an empty ring removes
    /// it.
    ///
    /// - Throws: ``ClientStoreError``.
    public func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool {
        try await withLock {
            guard try decode(EnvelopeKeyRing.self, from: keys) ?? EnvelopeKeyRing() == expected else { return false }
            if new.entries.isEmpty { try keys.remove() } else { try encode(new, to: keys) }
            return true
        }
    }

    /// Notes in a file that an envelope was opened.
    ///
    /// - Throws: ``ClientStoreError``.
    public func remember(_ envelope: EnvelopeRecord) async throws -> Bool {
        try await withLock {
            let stored = try opened.read()
            var records = EnvelopeRecords(stored ?? Data())
            let result = records.result(of: envelope)
            guard result == .new else { return result == .known }
            // A record that is not complete would make all after it unreadable.
            let isWhole = records.data.count == stored?.count
            if records.append(envelope) || !isWhole {
                try opened.write(records.data)
            } else {
                try opened.append(EnvelopeRecords.record(envelope))
            }
            return true
        }
    }

    /// A file that is only valid on the device that made it.
    public func deviceMark() async throws -> String? {
        try await withLock { try DeviceMark(url: folder.appendingPathComponent("device-mark")).text() }
    }

    /// Claims the notice by a file that is named after this boot of the device and is readable before the first unlock.
    ///
    /// - Returns: whether no earlier call since the device started has returned `true`; also `true` if the file cannot be
    ///   made.
    public func claimLockedNotice() async -> Bool {
        // A file without protection, because it is needed before the first unlock. Its name is the boot's.
        let mark = folder.appendingPathComponent("locked-notice-\(bootID())")
        guard (try? ProtectedFile.createFolder(folder)) != nil else { return true }
        let descriptor = open(mark.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno != EEXIST }
        close(descriptor)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix("locked-notice-") && name != mark.lastPathComponent {
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
        return true
    }

    /// Runs work of another store while no other process changes the files, once for each installation of the app
    /// after something else: the container goes with the app, other storage may not.
    ///
    /// - Parameters:
    ///   - begin: the work of the first call after an installation. It may run again if the process dies.
    ///   - work: the work.
    func locked<Result: Sendable>(
        afterInstallation begin: @Sendable () throws -> Void, _ work: @Sendable () throws -> Result
    ) async throws -> Result {
        try await withLock {
            if !isInstalled {
                let mark = ProtectedFile(url: folder.appendingPathComponent("installation"))
                if try mark.read() == nil {
                    let text = Data(UUID().uuidString.utf8)
                    if try state.read() == nil {
                        try begin()
                        try mark.write(text)
                    } else {
                        // The state of an earlier version is of this installation, too. If the disk is full, the next
                        // start writes the mark.
                        try? mark.write(text)
                    }
                }
                isInstalled = true
            }
            return try work()
        }
    }

    /// Runs work while no other process changes the files. Each try takes the lock anew, so that it is never held
    /// across a suspension: iOS ends an app that is suspended with a lock in a shared folder.
    private func withLock<Result>(_ work: () throws -> Result) async throws -> Result {
        try ProtectedFile.createFolder(folder)
        let path = folder.appendingPathComponent("lock").path
        for _ in 0..<Self.lockTries {
            let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw ProtectedFile.error(of: errno, otherwise: .unwritable) }
            defer { close(descriptor) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return try work() }
            // In a cancelled task the sleep returns at once. The tries then follow each other without a pause.
            try? await Task.sleep(nanoseconds: 10_000_000)
        }
        throw ClientStoreError.busy
    }

    private func decode<Value: Decodable>(_ type: Value.Type, from file: ProtectedFile) throws -> Value? {
        guard let data = try file.read() else { return nil }
        if let value = try? JSONDecoder().decode(type, from: data) { return value }
        // A damaged file of secrets is deleted, not kept for an analysis.
        if file.url == state.url { file.putAside() } else { try file.remove() }
        return nil
    }

    private func encode(_ value: some Encodable, to file: ProtectedFile) throws {
        guard let data = try? JSONEncoder().encode(value) else { throw ClientStoreError.unwritable }
        try file.write(data)
    }

    /// Two seconds: a change takes milliseconds.
    private static let lockTries = 200
}
