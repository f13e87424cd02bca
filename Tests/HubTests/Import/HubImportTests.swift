import Domain
import Foundation
import Foundations
import Logging
import OutgoingHTTP
import PushServices
import ServiceConfiguration
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Hub

@Suite struct HubImportTests {
    private static let exportedAt = Timestamp(milliseconds: 1_790_000_000_000)

    /// Writes a file, imports it into a hub, and returns how far that came with the bad lines.
    @discardableResult
    private func run(
        _ bytes: some Sequence<UInt8>, into tables: HubTables?, path: String, restarts: Bool = false,
        credentials: String? = nil, exportedAt: Timestamp? = exportedAt, stopAfter: Int = .max
    ) async throws -> (state: HubImport.State, bad: [HubImport.BadLine]) {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let bad = Mutex<[HubImport.BadLine]>([])
        var steps = 0
        let source = try HubImport(path: path, hub: "App", credentialsFile: credentials, outgoing: .test)
        let state = try await source.run(
            tables.map { .init($0, exportedAt: exportedAt, restarts: restarts) }, shouldStop: { steps > stopAfter },
            bad: { lines in bad.withLock { $0 += lines } }, report: { _ in steps += 1 })
        return (state, bad.withLock { $0 })
    }

    /// In memory, in a file, and on PostgreSQL.
    private func withEachStore(_ body: (HubTables, String) async throws -> Void) async throws {
        let folder = temporaryPath()
        defer { removeFile(folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await withTables { try await body($0.tables, folder + "/memory.txt") }
        let file = try StorageConfiguration(url: "sqlite:\(folder)/data.sqlite")
        try await withTables(file) { try await body($0.tables, folder + "/file.txt") }
        try await withPostgresDatabase { url in
            let postgres = try StorageConfiguration(url: url)
            try await withTables(postgres) { try await body($0.tables, folder + "/postgres.txt") }
        }
    }

    /// The handles that a send to a tag reaches.
    private func reached(_ tag: String, _ format: NotificationFormat, _ tables: HubTables) async throws -> [String] {
        var handles: [String] = []
        var after: Int64? = 0
        let audience = HubAudience(of: format, .tag(tag))
        while let place = after {
            let page = try await tables.targets(hub: "app", of: audience, after: place)
            handles += page.registrations.map(\.handle)
            after = page.next
        }
        return handles.sorted()
    }

    @Test func `Devices of an export are reached as before, whatever ends its lines`() async throws {
        let tags = TestExport.tags("Phone", user: "bob", "username:bob")
        let lines = [
            TestExport.phone("1-1", tags: "username:alice", token: "aa"), "",
            TestExport.phone("1-2", tags: tags, token: "bb"),
            TestExport.template("1-3", name: "n", tags: tags, token: "bb"),
            TestExport.line("FcmV1", id: "1-4", tags: "username:alice", "<FcmV1RegistrationId>t</FcmV1RegistrationId>"),
            TestExport.line("Adm", id: "1-5", "<AdmRegistrationId>t</AdmRegistrationId>"),
            TestExport.line("Apple", id: "1-6", expires: "2020-01-01T00:00:00Z", "<DeviceToken>cc</DeviceToken>"),
            "<broken", TestExport.phone("1-7", tags: "username:alice", token: "dd"),
        ]
        for (end, isEnded) in [("\n", true), ("\r\n", false)] {
            try await withEachStore { tables, path in
                let text = "\u{FEFF}" + lines.joined(separator: end) + (isEnded ? end : "")
                let (state, bad) = try await run(text.utf8, into: tables, path: path)
                #expect(state.isDone && state.progress.lines == lines.count)
                let counts = state.progress.counts
                #expect((counts.imported, counts.expired, counts.bad) == (5, 1, 1))
                #expect(counts.otherPlatforms == ["adm": 1] && bad.map(\.line) == [8])
                #expect(try await reached("username:alice", .apple, tables) == ["AA", "DD"])
                #expect(try await reached("username:alice", .fcmv1, tables) == ["t"])
                #expect(try await reached("$installationid:{phone}", .apple, tables) == ["BB"])
                #expect(try await reached("username:bob", .template, tables) == ["BB"])
                let row = try #require(try await tables.installation("phone", hub: "app"))
                let installation = try #require(HubInstallation(row))
                #expect(installation.id == "Phone" && installation.userID == "bob")
                #expect(installation.templates["n"] != nil && installation.tags == ["username:bob"])
                #expect(try await tables.registration("1-2", hub: "app")?.installationID == "phone")
            }
        }
    }

    @Test func `An import that was stopped goes on, and one that is done does nothing`() async throws {
        let text = (0..<1700).map { TestExport.phone("id-\($0)", tags: "all,n\($0)", token: "a\($0 + 1000)") + "\n" }
        try await withEachStore { tables, path in
            let first = try await run(text.joined().utf8, into: tables, path: path, stopAfter: 1)
            #expect(!first.state.isDone && first.state.progress.lines == 1000)
            #expect(try await reached("all", .apple, tables).count == 1000)
            let second = try await run(text.joined().utf8, into: tables, path: path, exportedAt: nil)
            #expect(second.state.isDone && second.state.formerLines == 1000)
            #expect(second.state.progress.exportedAt == Self.exportedAt)
            #expect(second.state.progress.counts.imported == 1700 && second.state.progress.counts.unchanged == 0)
            #expect(try await reached("all", .apple, tables).count == 1700)
            let third = try await run(text.joined().utf8, into: tables, path: path)
            #expect(third.state == HubImport.State(second.state, formerLines: 1700))
            let fourth = try await run(text.joined().utf8, into: tables, path: path, restarts: true)
            #expect(fourth.state.progress.counts.unchanged == 1700 && fourth.state.progress.counts.imported == 0)
            #expect(try await tables.registration("id-7", hub: "app")?.version == 1)
            // Another file begins at its start.
            let other = try await run((text + [TestExport.phone("x")]).joined().utf8, into: tables, path: path)
            #expect(other.state.formerLines == 0 && other.state.progress.counts.imported == 1)
        }
    }

    @Test func `What the device registered after the export stays`() async throws {
        try await withTables { store in
            let path = temporaryPath()
            defer { removeFile(path) }
            let own = RegistrationEntry(
                id: "own", format: .apple, isTemplate: false, tags: ["username:bob"], handle: "AA",
                fields: [XMLElement("DeviceToken", namespace: XMLNamespace.connect, text: "AA")],
                updatedAt: Self.exportedAt + .seconds(1)
            ).stored
            _ = try await store.tables.put(own, hub: "app", condition: .none)
            let (state, _) = try await run(TestExport.phone("1-9", token: "aa").utf8, into: store.tables, path: path)
            #expect(state.progress.counts.newer == 1 && state.progress.counts.imported == 0)
            #expect(try await reached("username:alice", .apple, store.tables).isEmpty)
        }
    }

    @Test func `Addresses are checked by the rules of the push services`() async throws {
        let folder = temporaryPath()
        defer { removeFile(folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let key = HubTools.newVAPIDKey()
        try TestHub.write(key.pem + "\n", to: folder + "/vapid.pem")
        try TestHub.write(
            #"{"app": {"webPush": {"privateKeyFile": "vapid.pem", "subject": "mailto:a@example.org"}}}"#,
            to: folder + "/credentials.json")
        let point = ES256Key().publicText
        let lines = ["https://fcm.googleapis.com/x", "https://evil.example/x"].enumerated().map { index, endpoint in
            TestExport.line(
                "Browser", id: "1-\(index)",
                "<Endpoint>\(endpoint)</Endpoint><P256DH>\(point)</P256DH>"
                    + "<Auth>BTBZMqHH6r4Tts7J_aSIgg</Auth>")
        }
        let (state, bad) = try await run(
            lines.joined(separator: "\n").utf8, into: nil, path: folder + "/export.txt",
            credentials: folder + "/credentials.json")
        #expect((state.progress.counts.imported, state.progress.counts.bad) == (1, 1))
        #expect(bad == [.init(line: 2, reason: "The endpoint is not of a push service that is allowed here.")])
    }

    @Test(
        arguments: [
            ("", "is empty"), (" \n \n", "blanks only"), ("{\"installationId\":\"a\"}", "JSON"), ("[]", "JSON"),
            ("<feed xmlns=\"http://www.w3.org/2005/Atom\">", "export job"), ("id,handle\n1,2", "not an export"),
        ])
    func `A file of another kind is refused with a word about it`(text: String, reason: String) async throws {
        try await expectRefusal(Array(text.utf8), reason)
    }

    @Test(arguments: [([0x1F, 0x8B, 8, 0], "gunzip"), ([0xFF, 0xFE, 0x3C, 0], "iconv")] as [([UInt8], String)])
    func `A file in another form is refused with the remedy`(bytes: [UInt8], reason: String) async throws {
        try await expectRefusal(bytes, reason)
    }

    @Test func `A file of bad lines only is refused soon`() async throws {
        let text = String(repeating: "<RegistrationDescription>\n", count: 2000)
        try await withTables { store in
            let path = temporaryPath()
            defer { removeFile(path) }
            let error = await #expect(throws: FileError.self) {
                try await run(text.utf8, into: store.tables, path: path)
            }
            #expect(error?.message.contains("None of the first 1000 lines") == true)
        }
    }

    @Test func `A folder and a missing file are named`() {
        for (path, code) in [("/tmp", FileError.Code.unreadable), ("/nowhere/x", .missing)] {
            let error = #expect(throws: FileError.self) {
                try HubImport(path: path, hub: "app", credentialsFile: nil, outgoing: .test)
            }
            #expect(error?.code == code && error?.path == path)
        }
    }

    private func expectRefusal(_ bytes: [UInt8], _ reason: String) async throws {
        let path = temporaryPath()
        defer { removeFile(path) }
        let error = await #expect(throws: FileError.self) { try await run(bytes, into: nil, path: path) }
        #expect(error?.code == .malformed && error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [1, 7, 4096])
    func `A line that is too long is bad, and memory stays small`(count: Int) async throws {
        let path = temporaryPath()
        defer { removeFile(path) }
        let long = String(repeating: "x", count: ExportLines.maxBytes + count * 300)
        let phone = { (number: Int) in TestExport.phone("1-\(number)") }
        let text = [phone(1), "<a>" + long, phone(2), long].joined(separator: "\n")
        let (state, bad) = try await run(text.utf8, into: nil, path: path)
        #expect(bad.map(\.line) == [2, 4] && bad.allSatisfy { $0.reason.contains("longer than 128 KiB") })
        #expect(state.isDone && state.progress.counts.imported == 2 && state.progress.bytes == text.utf8.count)
    }
}

extension HubImport.State {
    /// The state of a run that found the file done.
    fileprivate init(_ done: Self, formerLines: Int) {
        self = done
        (self.formerLines, formerBytes) = (formerLines, done.size)
    }
}

extension OutgoingConfiguration {
    /// Without proxies.
    fileprivate static var test: OutgoingConfiguration {
        var reader = ConfigurationReader(environment: [:])
        return .read(&reader)
    }
}
