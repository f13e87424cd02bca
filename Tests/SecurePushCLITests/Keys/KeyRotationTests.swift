import ArgumentParser
import Domain
import Foundation
import Foundations
import Storage
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct KeyRotationTests {
    private static let key = Data(repeating: 7, count: 32).base64EncodedString()

    private static func ring(_ ids: [String]) -> String {
        ids.map { "\($0) \(key)\n" }.joined()
    }

    /// A command on a file of keys, and its text afterwards.
    private func rotate(
        _ arguments: [String], ids: [String], database: String? = nil
    ) async throws -> (answer: KeysCommand.Rotate.Report, ids: [String], mode: Int?) {
        try await withTemporaryFolder { folder in
            let path = folder + "/payload.keys"
            try SecretFile.create(path, String(Self.ring(ids).dropLast()))
            let command = try KeysCommand.Rotate.parse(["--payload-keys-file", path] + arguments)
            let answer = try await command.rotate(database: database)
            return (answer, try KeysCommand.ring(path).keyIDs, SecretFile.mode(path))
        }
    }

    @Test func `The new key seals, the old ones stay, and nobody else may read the file`() async throws {
        let result = try await rotate([], ids: ["b", "a"])
        #expect(result.ids == [result.answer.sealing, "b", "a"])
        #expect(result.answer.added == result.answer.sealing && result.answer.removed.isEmpty)
        #expect(result.mode == 0o600)
    }

    @Test(arguments: ["\r\n", "\n", " \r\n", "\n\u{FEFF}", "\n\u{301}# mark\n", "\t\r\n# b\r\n"])
    func `A key is dropped whatever ends its line`(end: String) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/payload.keys"
            let mark = end.contains("\u{FEFF}") ? "\u{FEFF}" : ""
            let end = end.replacing("\u{FEFF}", with: "").replacing("\u{301}", with: "")
            try Data("\(mark)k2 \(Self.key)\(end)k1 \(Self.key)\(end)".utf8).write(to: URL(filePath: path))
            let arguments = ["--payload-keys-file", path, "--remove", "k1", "--no-new-key", "--force"]
            let report = try await KeysCommand.Rotate.parse(arguments).rotate(database: nil)
            #expect(report.removed == ["k1"])
            #expect(try KeysCommand.ring(path).keyIDs == ["k2"])
        }
    }

    @Test func `Comments and blank lines stay where they are`() {
        let text = "# ours\n\nb \(Self.key)\n# old\na \(Self.key)"
        let rotated = KeyRotation(newLine: "c K", dropped: ["a"]).apply(to: text)
        #expect(rotated == "# ours\n\nc K\nb \(Self.key)\n# old\n")
    }

    @Test(
        arguments: [
            (nil, [], true, []), (2, [], true, ["b", "c", "d"]), (3, [], true, ["c", "d"]), (9, [], true, []),
            (1, [], false, ["b", "c", "d"]), (nil, ["c"], false, ["c"]), (4, ["b"], true, ["b", "d"]),
        ] as [(Int?, [String], Bool, [String])])
    func `Which keys are dropped`(keep: Int?, remove: [String], addsKey: Bool, dropped: [String]) throws {
        let ids = ["a", "b", "c", "d"]
        #expect(try KeyRotation.dropping(from: ids, keep: keep, remove: remove, addsKey: addsKey) == dropped)
    }

    @Test(arguments: [(["x"], true), (["a"], true), (["a"], false)])
    func `A key that is not there, or that seals, is not dropped`(remove: [String], addsKey: Bool) {
        let failure = #expect(throws: CommandFailure.self) {
            try KeyRotation.dropping(from: ["a", "b"], keep: nil, remove: remove, addsKey: addsKey)
        }
        #expect(failure?.code == .failed)
    }

    @Test func `Without a database a key is dropped only by force`() async throws {
        let failure = await #expect(throws: CommandFailure.self) {
            _ = try await rotate(["--keep", "2"], ids: ["b", "a"])
        }
        #expect(failure?.code == .configuration)
        let result = try await rotate(["--keep", "2", "--force"], ids: ["b", "a"])
        #expect(result.ids == [result.answer.sealing, "b"] && result.answer.removed == ["a"])
    }

    @Test func `A key that payloads need stays, by force too`() async throws {
        try await withTemporaryFolder { folder in
            let url = "sqlite:\(folder)/data.sqlite"
            _ = try await StoreSession.migrate(url)
            let expiry = Timestamp.now + .seconds(3600)
            try await StoreSession.with(url) { store in
                let notification = Notification(
                    id: NotificationID(), sender: "s", recipient: UserName("u")!, createdAt: .now, expiresAt: expiry)
                try await store.append([
                    SealedNotification(
                        notification: notification, payload: SealedPayload(keyID: "b", bytes: [1, 2, 3]))
                ])
            }
            let failure = await #expect(throws: CommandFailure.self) {
                _ = try await rotate(
                    ["--remove", "b", "--remove", "c", "--force"], ids: ["a", "b", "c"], database: url)
            }
            #expect(failure?.details == ["b: 1 payload"])
            let result = try await rotate(
                ["--no-new-key", "--remove", "c"], ids: ["a", "b", "c"], database: url)
            #expect(result.ids == ["a", "b"] && result.answer.added == nil)
        }
    }

    @Test func `A file that is no key ring is left as it is`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/keys"
            try SecretFile.create(path, "no key ring")
            let command = try KeysCommand.Rotate.parse(["--payload-keys-file", path])
            let failure = await #expect(throws: CommandFailure.self) {
                _ = try await command.rotate(database: nil)
            }
            #expect(failure?.code == .configuration)
            #expect(try SecretFile.read(path) == "no key ring")
        }
    }
}
