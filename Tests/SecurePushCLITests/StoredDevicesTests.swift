import Domain
import Foundations
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct StoredDevicesTests {
    private static let pageSize = 20
    private let time = Timestamp(rfc3339: "2026-11-22T08:30:00.123Z")!

    private func filled() async throws -> any Store {
        let store = memoryStore()
        for name in ["alice", "bob"] {
            let owner = try #require(UserName(name))
            for number in 0..<Self.pageSize + 1 {
                let id = "\(name)-\(1000 + number)"
                try await store.save(
                    Installation(
                        id: id, owner: owner, platform: .apple, handle: "secret \(id)",
                        document: Array(#"{"installationId":"\#(id)"}"#.utf8), updatedAt: time,
                        expiresAt: number == 0 ? time : nil))
                try await store.save(
                    Registration(
                        id: id, owner: owner, platform: .wns, handle: "secret \(id)", tags: ["a"], updatedAt: time))
            }
        }
        return store
    }

    @Test(arguments: [nil, "alice", "carol"] as [String?])
    func `All devices, or those of one user`(name: String?) async throws {
        let store = try await filled()
        var found: [StoredDevice] = []
        for try await page in StoredDevices(store: store, owner: name.flatMap { UserName($0) }, pageSize: Self.pageSize)
        {
            #expect((1...Self.pageSize).contains(page.count))
            found += page
        }
        let users = name.map { [$0] } ?? ["alice", "bob"]
        let count = (Self.pageSize + 1) * 2 * users.filter { $0 != "carol" }.count
        #expect(found.count == count && Set(found.map(\.reference)).count == count)
        #expect(found.allSatisfy { users.contains($0.owner.text) })
    }

    @Test func `A list has no handles, and an export has everything`() throws {
        let alice = try #require(UserName("alice"))
        let installation = Installation(
            id: "i", owner: alice, platform: .apple, handle: "secret", document: Array(#"{"a":1}"#.utf8),
            updatedAt: time, expiresAt: time)
        let registration = Registration(id: "r", owner: alice, updatedAt: time)
        let times = #""UpdatedAt":"2026-11-22T08:30:00.123Z","LastSeenAt":"2026-11-22T00:00:00.000Z""#
        let head = #"{"Kind":"installation","Id":"i","User":"alice","Platform":"apple",\#(times)"#
        let end = #","ExpiresAt":"2026-11-22T08:30:00.123Z""#
        #expect(StoredDevice.installation(installation).json(withContent: false) == head + end + "}")
        #expect(
            StoredDevice.installation(installation).json(withContent: true)
                == head + end + #","Handle":"secret","Installation":{"a":1}}"#)
        var withKey = installation
        let key = try #require(EncryptionKey(point: ES256Key().publicPoint))
        withKey.encryptionKey = DeviceEncryptionKey(deviceID: "i", key: key, createdAt: time)
        #expect(
            StoredDevice.installation(withKey).json(withContent: false)
                == head + end + #","Key":\#(key.jwk),"KeyCreatedAt":"2026-11-22T08:30:00.123Z"}"#)
        #expect(
            StoredDevice.registration(registration).json(withContent: true)
                == #"{"Kind":"registration","Id":"r","User":"alice",\#(times),"Tags":[]}"#)
    }

    @Test func `A table has nothing that controls the terminal`() throws {
        let alice = try #require(UserName("alice"))
        let registration = Registration(id: "r\u{1B}[2J", owner: alice, updatedAt: time)
        var table = Table(InstallationsCommand.List.columns)
        let lines = table.lines([StoredDevice.registration(registration)])
        #expect(lines.count == 2 && !lines[1].utf8.contains(0x1B) && lines[1].hasSuffix("alice"))
        #expect(lines[1].contains("2026-11-22 ") && lines[0].hasPrefix("KIND"))
        #expect(table.lines([StoredDevice.registration(registration)]).count == 1)
    }
}
