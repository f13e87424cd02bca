import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct HubImportTests {
    private struct Misfit: Error {}

    @Test(arguments: hubStores)
    func `Registrations of a file are found by sends, and a repetition changes nothing`(_ kind: StoreKind) async throws
    {
        let tables = try await kind.openHub()
        let first = HubRegistrationRow.sample(
            "Aa-1", tags: ["Username:Alice", "vip"], handle: "https://push.example/?x=\u{e9}\"\\\u{1}", format: "apple",
            expiresAt: noon + .seconds(60), document: Array("<fields a=\"\u{e9}\"/>".utf8))
        let rows = [first, .sample("b-2", tags: ["vip"], isTemplate: true), .sample("c-3")]
        let result = try await tables.add(rows)
        #expect(result.progress.counts.imported == 3 && result.progress.bytes == 300 && result.progress.lines == 3)
        var stored = try #require(try await tables.registration("aa-1", hub: "hub"))
        #expect(stored.sequence > 0 && stored.version == 1)
        stored.sequence = 0
        #expect(stored == first)
        #expect(try await tables.ids([["username:alice"]]) == ["Aa-1"])
        #expect(try await tables.ids([["vip"]]) == ["Aa-1"])
        #expect(try await tables.ids() == ["Aa-1", "c-3"])
        let templates = try await tables.targets(hub: "hub", of: HubAudience(formats: ["template"], tagSets: [["vip"]]))
        #expect(templates.registrations.map(\.id) == ["b-2"])
        let again = try await tables.add(rows, restarts: true)
        #expect(again.progress.counts.unchanged == 3 && again.progress.counts.imported == 0)
        #expect(try await tables.registration("aa-1", hub: "hub")?.version == 1)
    }

    @Test(arguments: hubStores)
    func `The newer one wins: by its ID, by its device, and what was deleted stays so`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let (before, after) = (noon - .seconds(1), noon + .seconds(1))
        try await tables.put(.sample("older", tags: ["old"], updatedAt: before))
        try await tables.put(.sample("newer", tags: ["own"], updatedAt: after))
        try await tables.put(.sample("own", tags: ["own"], handle: "DEVICE", updatedAt: after))
        try await tables.put(.sample("own", tags: ["own"], handle: "ELSEWHERE", updatedAt: after), hub: "other")
        try await tables.put(.sample("gone", updatedAt: before))
        _ = try await tables.removeRegistration("gone", hub: "hub", condition: .any)
        let result = try await tables.add([
            .sample("Older", tags: ["new"]), .sample("newer", tags: ["new"]),
            .sample("azure", tags: ["new"], handle: "DEVICE"), .sample("gone", tags: ["new"]),
            .sample("else", tags: ["new"], handle: "ELSEWHERE"), .sample("twice", tags: ["new"]), .sample("TWICE"),
        ])
        let counts = result.progress.counts
        #expect((counts.imported, counts.newer, counts.deleted, counts.unchanged) == (3, 2, 1, 1))
        #expect(try await tables.ids([["new"]]).sorted() == ["Older", "else", "twice"])
        #expect(try await tables.ids([["old"]]).isEmpty)
        #expect(try await tables.ids([["own"]]).sorted() == ["newer", "own"])
        #expect(try await tables.registration("older", hub: "hub")?.version == 2)
        // An export of a later time.
        let later = try await tables.add(
            [.sample("twice", tags: ["later"], updatedAt: noon + .seconds(9))], file: "g",
            exportedAt: noon + .seconds(9))
        #expect(later.progress.counts.imported == 1)
        #expect(try await tables.ids([["later"]]) == ["twice"])
    }

    @Test(arguments: hubStores)
    func `An installation is put together from the lines of two batches`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let progress = try await tables.begin()
        let first = try await tables.importBatch(
            .installation("i1", ["": "Native-1"], after: progress), of: "f", hub: "hub", now: noon)
        #expect(first.progress.counts.imported == 1)
        let second = try await tables.importBatch(
            .installation("i1", ["t": "Template-1"], after: first.progress), of: "f", hub: "hub", now: noon)
        #expect(second.progress.counts.imported == 2)
        let row = try #require(try await tables.installation("I1", hub: "hub", now: noon))
        #expect(row.document == Array(",t".utf8) && row.updatedAt == noon)
        #expect(try await tables.ids([["all"]]) == ["Native-1", "Template-1"])
        let part = try #require(try await tables.registration("template-1", hub: "hub"))
        #expect(part.installationID == "i1" && part.slot == "t")
        // The same lines again.
        let again = try await tables.importBatch(
            .installation("i1", ["": "Native-1", "t": "Template-1"], after: second.progress), of: "f", hub: "hub")
        #expect(again.progress.counts.unchanged == 2)
        #expect(try await tables.ids([["all"]]) == ["Native-1", "Template-1"])
        // The device has registered itself.
        try await tables.install("i1", [""], updatedAt: noon + .seconds(1))
        let late = try await tables.importBatch(
            .installation("i1", ["": "Native-1"], after: again.progress), of: "f", hub: "hub")
        #expect(late.progress.counts.newer == 1)
        #expect(try await tables.ids([["all"]]) == ["Native-1"])
        _ = try await tables.removeInstallation("i1", hub: "hub")
        #expect(try await tables.ids([["all"]]).isEmpty)
    }

    @Test(arguments: hubStores)
    func `An installation whose lines do not fit is bad, and the others are stored`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        var batch = HubImportBatch.installation("i1", ["": "a"], after: try await tables.begin())
        batch.installations += [.init(id: "i2", lines: 2, handles: ["K"], ids: ["": "b"]) { _ in throw Misfit() }]
        batch.registrations = [.sample("c")]
        let result = try await tables.importBatch(batch, of: "f", hub: "hub")
        #expect(result.refused == ["i2"])
        #expect(result.progress.counts.imported == 2 && result.progress.counts.bad == 2)
        #expect(try await tables.installation("i2", hub: "hub", now: noon) == nil)
        #expect(try await tables.ids().sorted() == ["a", "c"])
    }

    @Test(arguments: hubStores)
    func `An import goes on where it was, and two do not import one file`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let start = try await tables.begin()
        var counts = HubImportCounts()
        (counts.bad, counts.expired, counts.otherPlatforms) = (2, 3, ["adm": 4])
        let result = try await tables.add([.sample("a")], counts: counts)
        #expect(result.progress.counts == counts + result.progress.counts.onlyImported)
        let known = try await tables.begin(exportedAt: nil)
        #expect(known == result.progress && known.bytes == 100 && known.exportedAt == noon)
        // Another process believes to be at the start.
        var batch = HubImportBatch(start: start)
        batch.registrations = [.sample("b")]
        let stale = batch
        await #expect(throws: StorageError.self) { try await tables.importBatch(stale, of: "f", hub: "hub") }
        #expect(try await tables.ids() == ["a"])
        #expect(try await tables.begin(file: "g").bytes == 0)
        #expect(try await tables.begin(hub: "other").bytes == 0)
        #expect(try await tables.begin(exportedAt: noon + .seconds(1)).bytes == 0)
        _ = try await tables.add([.sample("a")], file: "g")
        try await tables.removeHub("hub", now: noon) { _ in }
        #expect(try await tables.begin(file: "g").bytes == 0)
    }
}

extension HubTables {
    fileprivate func begin(
        file: String = "f", hub: String = "hub", exportedAt: Timestamp? = noon, restarts: Bool = false
    ) async throws -> HubImportProgress {
        try await beginImport(
            of: file, hub: hub, exportedAt: exportedAt, assumed: noon + .seconds(99), restarts: restarts, now: noon)
    }

    /// Imports registrations as lines of 100 bytes.
    fileprivate func add(
        _ rows: [HubRegistrationRow], file: String = "f", exportedAt: Timestamp = noon, restarts: Bool = false,
        counts: HubImportCounts = HubImportCounts()
    ) async throws -> HubImportResult {
        var batch = HubImportBatch(
            start: try await begin(file: file, exportedAt: exportedAt, restarts: restarts))
        batch.registrations = rows
        batch.endBytes += 100 * rows.count
        batch.endLines += rows.count
        batch.counts = counts
        return try await importBatch(batch, of: file, hub: "hub", now: noon)
    }
}

extension HubImportBatch {
    /// Lines of an installation, whose document is the list of its slots.
    fileprivate static func installation(_ id: String, _ ids: [String: String], after start: HubImportProgress) -> Self
    {
        var batch = HubImportBatch(start: start)
        batch.endBytes += 100
        batch.endLines += ids.count
        batch.installations = [
            Installation(id: id, lines: ids.count, handles: ["H"], ids: ids) { former in
                let known = former.map { String(decoding: $0.document, as: UTF8.self).components(by: ",") } ?? []
                let slots = Set(known + ids.keys).sorted()
                let document = Array(slots.joined(separator: ",").utf8)
                return (
                    HubInstallationRow(document: document, updatedAt: noon, expiresAt: nil), slots.map { .part($0) }
                )
            }
        ]
        return batch
    }
}

extension String {
    fileprivate func components(by separator: Character) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}

extension HubImportCounts {
    fileprivate var onlyImported: HubImportCounts {
        var counts = HubImportCounts()
        counts.imported = imported
        return counts
    }
}
