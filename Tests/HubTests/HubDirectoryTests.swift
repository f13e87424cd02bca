import Domain
import Foundation
import Foundations
import HTTPTypes
import Storage
import Testing

@testable import Hub

@Suite struct HubDirectoryTests {
    private static let tags = ["a", "b", "c"]

    /// 60 devices with some of three tags, each combination several times.
    private func fill(_ hubs: HubDirectory) async throws {
        for number in 0..<60 {
            let own = Self.tags.enumerated().filter { number >> $0.offset & 1 == 1 }.map(\.element)
            let entry = try RegistrationEntry(
                id: "\(number)", entry: Array(TestEntry.apple("A\(number)", tags: own.joined(separator: ",")).utf8),
                receivedAt: .now)
            _ = try await hubs.tables.put(entry.stored, hub: "hub", condition: .none)
        }
    }

    @Test(arguments: [
        "a", "a||b", "a||b||c", "a&&b", "!a", "!a&&(b||c)", "!(a||b)", "!(a&&b)&&c", "a&&!b", "(a||!b)&&c",
        "!(!a||b)", "z", "a&&z", "!z",
    ])
    func `Index and evaluation agree`(_ text: String) async throws {
        try await withTables { store in
            let hubs = HubDirectory(store.tables)
            try await fill(hubs)
            let expression = try #require(try TagExpression.parse(text))
            let (all, next) = try await hubs.list("hub", after: 0, limit: 100)
            #expect(all.count == 60 && next == nil)
            let expected = all.filter { expression.matches($0.lowercasedTags) }.map(\.id)
            let found = try await hubs.targets("hub", format: .apple, expression: expression, after: 0).registrations
            #expect(found.map(\.id) == expected)
            for tags in expression.tagSets {
                #expect(found.allSatisfy { !$0.lowercasedTags.isDisjoint(with: tags) }, "\(tags)")
            }
        }
    }

    @Test func `Hubs are bounded`() async throws {
        try await withTables { store in
            let hubs = HubDirectory(store.tables)
            for number in 0..<HubDirectory.maxHubs { try await hubs.use("hub\(number)") }
            let refused = await #expect(throws: HubError.self) { try await hubs.use("more") }
            #expect(refused?.status == .forbidden)
            await #expect(throws: HubError.self) { _ = try await hubs.create("more", HubDescription()) }
            try await hubs.delete("hub0") { _ in }
            try await hubs.use("more")
            await #expect(throws: HubError.self) { try await hubs.use("hub0") }
        }
    }

    @Test func `A name that XML cannot have is no hub`() async throws {
        try await withTables { store in
            let hubs = HubDirectory(store.tables)
            #expect(hubs.entrance("hub").exists)
            for name in ["", "a\u{0}", "a\u{1}b", String(repeating: "a", count: 261)] {
                #expect(!hubs.entrance(name).exists)
            }
        }
    }

    @Test func `Stored hubs are known again, deleted ones too`() async throws {
        try await withTables { store in
            let hubs = HubDirectory(store.tables, names: .any, endpointHost: "h")
            let entry = Array(HubDescriptionTests.entry("<Novel>1</Novel>").utf8)
            let made = try await hubs.create("Second", try HubDescription(entry: entry))
            try await hubs.use("used")
            try await hubs.use("gone")
            try await hubs.delete("gone") { _ in }
            let again = HubDirectory(store.tables, names: .any, endpointHost: "h")
            try await again.load()
            let known = try #require(again.hub("second"))
            #expect(known.name == "Second")
            #expect(known.description.fields.contains { $0.name == "Novel" })
            #expect(known.description.rules.map(\.primaryKey) == made.description.rules.map(\.primaryKey))
            #expect(again.all.map(\.name) == ["Second", "used"])
            #expect(!again.entrance("gone").exists)
            await #expect(throws: HubError.self) { _ = try await again.create("SECOND", HubDescription()) }
            // Created anew it is empty.
            _ = try await again.create("Gone", HubDescription())
            #expect(again.entrance("gone").exists)
        }
    }

    @Test func `A deleted hub that cannot be stored again stays deleted`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "hubs-\(UUID().uuidString)").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) } }
        let hubs = try await withTables(try StorageConfiguration(url: "sqlite:\(file)")) { store in
            let hubs = HubDirectory(store.tables)
            try await hubs.use("gone")
            try await hubs.delete("gone") { _ in }
            return hubs
        }
        // The store has stopped.
        for _ in 0..<2 {
            await #expect(throws: StorageError.self) { _ = try await hubs.create("gone", HubDescription()) }
            #expect(hubs.hub("gone") == nil)
            #expect(!hubs.entrance("gone").exists)
        }
    }

    @Test func `A registration comes back as it was stored`() async throws {
        let plain = try RegistrationEntry(
            id: "1", entry: Array(TestEntry.apple("ab", tags: "A, b").utf8), receivedAt: Timestamp(milliseconds: 7))
        #expect(plain.stored.document.isEmpty)
        let rich = try RegistrationEntry(
            id: "2",
            entry: Array(
                TestEntry.make(
                    "FcmV1TemplateRegistrationDescription",
                    "<FcmV1RegistrationId>f:1</FcmV1RegistrationId><BodyTemplate><![CDATA[{\"a\":\"$(b)<>&\"}]]>"
                        + "</BodyTemplate><Novel x=\"1\"><In>&#13;</In></Novel>"
                ).utf8), receivedAt: Timestamp(milliseconds: 7))
        let browser = { (auth: String) in
            try RegistrationEntry(
                id: "3",
                entry: Array(
                    TestEntry.make(
                        "BrowserRegistrationDescription",
                        "<Endpoint>https://push.example/1</Endpoint><P256DH>BC-_x</P256DH><Auth>\(auth)</Auth>"
                    ).utf8), receivedAt: Timestamp(milliseconds: 7))
        }
        #expect(try browser("ab_-").stored.document == Array("BC-_x\nab_-".utf8))
        var part = rich
        part.installationID = "i"
        part.expirationTime = "2100-01-01T00:00:00Z \"&"
        for entry in try [plain, rich, part, browser("ab_-"), browser("a\nb")] {
            let again = try #require(RegistrationEntry(entry.stored))
            #expect(again.fields == entry.fields)
            #expect(again.expirationTime == entry.expirationTime)
            #expect(again.stored == entry.stored)
        }
        var damaged = rich.stored
        damaged.document = Array("<fields".utf8)
        #expect(RegistrationEntry(damaged) == nil)
        damaged = rich.stored
        damaged.format = "smoke"
        #expect(RegistrationEntry(damaged) == nil)
    }
}
