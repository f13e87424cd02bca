import Foundation
import Testing

@testable import SecurePushClient

/// The state of one device on another one, as a backup brings it there.
@Suite(.timeLimit(.minutes(10))) struct BackupTests {
    private let device = PushDevice(deviceToken: Data([0x0A, 0xFF]))
    private let other = PushDevice(deviceToken: Data([0x0B, 0xFF]))
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdk-\(UUID().uuidString)")

    /// What a backup carries to the other device.
    enum Backup: CaseIterable, Sendable {
        case everything, theStateAlone, everythingTwice
    }

    private func restore(_ backup: Backup) throws {
        let (from, to) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
        let manager = FileManager.default
        switch backup {
        case .everything: try manager.copyItem(at: from, to: to)
        case .theStateAlone:
            try manager.createDirectory(at: to, withIntermediateDirectories: true)
            for name in ["state.json", "credentials.json"] {
                try manager.copyItem(at: from.appendingPathComponent(name), to: to.appendingPathComponent(name))
            }
        case .everythingTwice:
            let archive = folder.appendingPathComponent("archive")
            try manager.copyItem(at: from, to: archive)
            try manager.copyItem(at: archive, to: to)
        }
    }

    @Test(arguments: Backup.allCases) func aRestoredStateGetsAnIDOfItsOwn(_ backup: Backup) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let a = try await SimulatedPhone(store: FileClientStore(folder: folder.appendingPathComponent("a")))
        let first = try await a.client.register(device)
        try restore(backup)
        let b = try await SimulatedPhone(
            store: FileClientStore(folder: folder.appendingPathComponent("b")), sharing: a)
        let second = try await b.client.register(other)
        #expect(first != second)
        // Both stay registered, and keep their IDs.
        #expect(try await a.client.register(device) == first)
        #expect(try await b.client.register(other) == second)
        #expect(a.server.change { Set($0.installations.keys) } == [first, second])
        #expect(a.requests.filter { $0.hasPrefix("PUT") }.count == 2)
    }

    @Test func aRestoredStateDoesNotUnregisterTheOtherDevice() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let a = try await SimulatedPhone(store: FileClientStore(folder: folder.appendingPathComponent("a")))
        let first = try await a.client.register(device)
        try restore(.everything)
        let b = try await SimulatedPhone(
            store: FileClientStore(folder: folder.appendingPathComponent("b")), sharing: a)
        try await b.client.unregister()
        #expect(a.server.change { Set($0.installations.keys) } == [first])
    }

    @Test func aFolderThatIsMovedKeepsTheID() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (from, to) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
        let a = try await SimulatedPhone(store: FileClientStore(folder: from))
        let first = try await a.client.register(device)
        try FileManager.default.moveItem(at: from, to: to)
        let b = try await SimulatedPhone(store: FileClientStore(folder: to), sharing: a)
        #expect(try await b.client.register(other) == first)
    }

    @Test func theMarkOfAnotherMachineIsMadeAnew() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let machine = folder.appendingPathComponent("machine-id")
        try Data("a1\n".utf8).write(to: machine)
        let mark = DeviceMark(url: folder.appendingPathComponent("device-mark"), machineIDFile: machine.path)
        let text = try mark.text()
        #expect(try mark.text() == text)
        try Data("b2\n".utf8).write(to: machine)
        #expect(try mark.text() != text)
    }

    @Test(arguments: ["", "x", "not-a-uuid 7", "00000000-0000-4000-8000-000000000000 0"])
    func aDamagedMarkIsMadeAnew(_ content: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let mark = DeviceMark(url: folder.appendingPathComponent("device-mark"))
        try Data(content.utf8).write(to: mark.url)
        let text = try mark.text()
        #expect(UUID(uuidString: text) != nil)
        #expect(try mark.text() == text)
    }
}
