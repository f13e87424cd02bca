import Foundation
import Testing

@testable import SecurePushClient

@Suite(.timeLimit(.minutes(10))) struct StoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdk-\(UUID().uuidString)")

    private func id(_ text: String) throws -> PushID { try #require(PushID(text)) }

    private func mode(_ name: String) throws -> Int? {
        let path = folder.appendingPathComponent(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func filesKeepEverythingForTheirOwnerOnly() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileClientStore(folder: folder)
        #expect(try await store.read() == ClientState())
        let id = try id("01")
        try await store.update { state in
            state.owner = "alice"
            state.ledger.learn(id, at: 1, ClientLimits())
            state.cursor = id
        }
        let credentials = StoredCredentials(userName: "alice", accessToken: "t", expiresAt: 5, refreshToken: "r")
        #expect(try await store.replace(nil, with: credentials))
        let again = FileClientStore(folder: folder)
        #expect(try await again.read().ledger.waiting == [id])
        #expect(try await again.credentials() == credentials)
        #expect(try mode("state.json") == 0o600 && mode("credentials.json") == 0o600 && mode("") == 0o700)
        #expect(try await !again.replace(StoredCredentials(userName: "bob"), with: nil))
        #expect(try await again.replace(credentials, with: nil))
        #expect(try await store.credentials() == nil)
    }

    @Test(arguments: ["", "{", "null", "[]", "{\"ledger\":1}", "\u{0}\u{0}\u{0}"])
    func aDamagedFileIsPutAside(_ content: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["state.json", "credentials.json"] {
            try Data(content.utf8).write(to: folder.appendingPathComponent(name))
        }
        let store = FileClientStore(folder: folder)
        #expect(try await store.read() == ClientState())
        #expect(try await store.credentials() == nil)
        try await store.update { $0.owner = "alice" }
        #expect(try await store.read().owner == "alice")
        #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("state.json.damaged").path))
        // Nothing keeps a secret that nobody can remove.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains { $0.hasPrefix("credentials.json") })
    }

    /// Other storage, such as the Keychain, may outlive the app, whose folder goes with it.
    @Test func eachInstallationOfTheAppBeginsOnce() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let begun = Counter()
        for _ in 0..<2 {
            let store = FileClientStore(folder: folder)
            for _ in 0..<2 { try await store.locked(afterInstallation: { begun.add() }) {} }
        }
        #expect(begun.count == 1)
        try FileManager.default.removeItem(at: folder)
        let store = FileClientStore(folder: folder)
        // Without the begin there is no mark, so the next call begins.
        await #expect(throws: ClientStoreError.locked) {
            try await store.locked(afterInstallation: { throw ClientStoreError.locked }) {}
        }
        try await store.locked(afterInstallation: { begun.add() }) {}
        #expect(begun.count == 2)
    }

    @Test func aStateOfAnEarlierVersionIsOfThisInstallation() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (store, begun) = (FileClientStore(folder: folder), Counter())
        try await store.update { $0.owner = "alice" }
        try await store.locked(afterInstallation: { begun.add() }) {}
        #expect(begun.count == 0)
    }

    @Test func aStateThatBeganEmptyKeepsTheStoredInstallation() {
        var stored = ClientState()
        stored.registration = RegistrationRecord(installationID: UUID())
        (stored.keyOwner, stored.deviceMark) = ("alice", "a")
        let before = stored
        stored.merge(ClientState())
        #expect(stored == before)
        // On another device, to which a backup has brought the state.
        var other = ClientState()
        other.deviceMark = "b"
        stored.merge(other)
        #expect(stored.registration == RegistrationRecord() && stored.deviceMark == "b")
    }

    /// The installation's ID becomes a part of a path.
    @Test func anInstallationIDThatIsNoneIsDamage() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileClientStore(folder: folder)
        let phone = try await SimulatedPhone(store: store)
        let id = try await phone.client.register(PushDevice(platform: .apns, channel: "AB"))
        let file = folder.appendingPathComponent("state.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        let damaged = text.replacingOccurrences(of: id, with: "a b/../c", options: .caseInsensitive)
        #expect(damaged != text)
        try Data(damaged.utf8).write(to: file)
        _ = try await phone.client.register(PushDevice(platform: .apns, channel: "BB"))
        #expect(phone.server.change { $0.installations.count } == 2)
    }

    @Test func aHugeFileIsPutAside() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(count: 5 << 20).write(to: folder.appendingPathComponent("state.json"))
        #expect(try await FileClientStore(folder: folder).read() == ClientState())
    }

    /// A folder in place of the file, and a file in place of the folder: refused for root too, unlike a missing right.
    @Test func aStoreThatCannotBeUsedIsAnError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("state.json/inside"), withIntermediateDirectories: true)
        await #expect(throws: ClientStoreError.unreadable) { try await FileClientStore(folder: folder).read() }
        let file = folder.appendingPathComponent("file")
        try Data().write(to: file)
        let nested = FileClientStore(folder: file.appendingPathComponent("store"))
        await #expect(throws: ClientStoreError.unwritable) { try await nested.update { $0.owner = "alice" } }
    }

    @Test func twoProcessesChangeOneState() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = [FileClientStore(folder: folder), FileClientStore(folder: folder)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                let id = try id("n\(number)")
                group.addTask {
                    try await stores[number % 2].update { _ = $0.ledger.learn(id, at: 1, ClientLimits()) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].read().ledger.entries.count == 100)
    }

    @Test func theLockedNoticeIsClaimedOncePerBoot() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = FileClientStore(folder: folder) { "boot-1" }
        #expect(await first.claimLockedNotice())
        #expect(await first.claimLockedNotice() == false)
        #expect(await FileClientStore(folder: folder) { "boot-1" }.claimLockedNotice() == false)
        #expect(await FileClientStore(folder: folder) { "boot-2" }.claimLockedNotice())
        #expect(!SystemBoot.id().isEmpty)
    }

    @Test func aFullStoreDoesNotKeepASecretFromTheUser() async throws {
        let store = FaultyStore()
        let phone = try await SimulatedPhone(store: store)
        phone.server.add("01")
        phone.server.add("02")
        await store.fail(writes: .unwritable)
        #expect(await phone.push("01").shown.count == 2)
        #expect(await phone.push("01").shown.isEmpty)
        #expect(await phone.screen.shown.count == 2)
        // The changes of the meantime are stored as soon as the store works again.
        await store.fail()
        _ = await phone.client.catchUp()
        let second = try await SimulatedPhone(store: store, isLoggedIn: false, sharing: phone)
        #expect(await second.push("01").shown.isEmpty)
    }

    @Test func anUnreadableStoreShowsTheGenericText() async throws {
        let store = FaultyStore()
        let phone = try await SimulatedPhone(store: store)
        phone.server.add("01")
        await store.fail(reads: .unreadable, writes: .unwritable)
        #expect(await phone.push("01").code == .credentials)
        #expect(await phone.screen.notices["01"]?.code == .credentials)
        await store.fail()
        #expect(await phone.client.catchUp().shown.count == 1)
    }

    @Test func beforeTheFirstUnlockThereIsOneNotice() async throws {
        let store = FaultyStore()
        let phone = try await SimulatedPhone(store: store)
        for id in ["01", "02", "03"] { phone.server.add(id) }
        await store.fail(reads: .locked, writes: .locked)
        for id in ["01", "02", "03"] { #expect(await phone.push(id).code == .locked) }
        #expect(await phone.screen.noticed.map(\.localizationKey) == ["securepush.locked"])
        #expect(phone.requests.isEmpty)
        await store.fail()
        #expect(await phone.client.catchUp().shown.count == 3)
        #expect(await phone.screen.notices.isEmpty)
    }
}

/// Counts calls.
private final class Counter: @unchecked Sendable {
    // Unchecked: the lock guards all that changes.
    private let lock = NSLock()
    private var value = 0

    var count: Int { lock.withLock { value } }
    func add() { lock.withLock { value += 1 } }
}
