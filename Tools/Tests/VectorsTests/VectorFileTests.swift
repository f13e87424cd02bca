import Foundation
import Foundations
import Testing

@testable import Vectors

@Suite struct VectorFileTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Clients/vectors").standardizedFileURL.path
    /// Made once.
    private static let files = Result { try VectorFile.all(folder) }

    private static func cases(_ name: String, _ list: String = "cases") throws -> [JSONValue] {
        try VectorFile(name, in: folder).lists.first { $0.name == list }?.cases.map(\.json.value) ?? []
    }

    @Test func `The files are those of the generator`() throws {
        for file in try Self.files.get() {
            #expect(try file.isCurrent(in: Self.folder), "\(file.name) is old. Run `vectors write Clients/vectors`.")
        }
    }

    @Test func `A changed file is noticed`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = VectorFile(name: "tags.json", lists: [("cases", TagVectors.cases())])
        let path = folder.appendingPathComponent(file.name)
        try (file.text + " ").write(to: path, atomically: true, encoding: .utf8)
        #expect(try !file.isCurrent(in: folder.path))
        try file.text.write(to: path, atomically: true, encoding: .utf8)
        #expect(try file.isCurrent(in: folder.path))
    }

    /// What the SDK did takes the place of what was expected, in the wakes of its case alone.
    @Test func `Observations are recorded`() throws {
        let wakes: JSONLiteral = [["kind": "push", "expect": ["code": nil]]]
        let file = VectorFile(
            name: "x.json", lists: [("cases", [VectorCase("a", ["wakes": wakes]), VectorCase("b", ["wakes": wakes])])])
        let recorded = try file.recording(Data(#"{"b":[{"code":"SP-404"}]}"#.utf8))
        #expect(recorded.lists[0].cases[0].json.value == file.lists[0].cases[0].json.value)
        #expect(
            recorded.lists[0].cases[1].json.value.json
                == #"{"name":"b","wakes":[{"kind":"push","expect":{"code":"SP-404"}}]}"#)
    }

    @Test func `Every case has a name of its own`() throws {
        let names = Set(try Self.files.get().map(\.name))
            .union(VectorFile.scenarioNames + ["signatures.json", "e2e.json"])
        for file in try names.map({ try VectorFile($0, in: Self.folder) }) {
            let names = file.lists.flatMap(\.cases).compactMap { $0.json.value["name"]?.text }
            #expect(names.count == file.count && Set(names).count == names.count, "\(file.name)")
        }
    }

    /// Each fault of the network at each of 8 stages, once and lasting, in two ways.
    @Test func `The table of faults is complete`() throws {
        let cells = try Self.cases("fetch-plans.json").filter { $0["way"] != nil }
        let faults = Dictionary(grouping: cells) { $0["fault"]?.text ?? "" }
        #expect(faults.count == 22)
        for (fault, cells) in faults {
            let places = cells.map { cell in
                ["stage", "length", "way"].compactMap { cell[$0]?.text }.joined(separator: " ")
            }
            #expect(places.count == 32 && Set(places).count == 32, "\(fault): \(places)")
        }
    }

    /// Whatever goes wrong, and although the server withdraws what the device has fetched, each secret is shown once
    /// and stays.
    @Test func `Every cell ends with both secrets`() throws {
        let cells = try Self.cases("fetch-plans.json").filter { $0["way"] != nil }
        var withdrawals = 0
        for cell in cells {
            let wakes = cell["wakes"]?.elements ?? []
            let shown = wakes.flatMap { $0["expect"]?["shown"]?.elements ?? [] }.compactMap { $0["id"]?.text }
            let both = [VectorKeys.missed, VectorKeys.pushed]
            #expect(shown.sorted() == both, "\(cell["name"]?.text ?? "")")
            let onScreen = wakes.last?["expect"]?["screen"]?["secrets"]?.elements?.compactMap(\.text)
            #expect(onScreen == both, "\(cell["name"]?.text ?? "")")
            withdrawals += wakes.count { $0["push"]?["withdraw"] != nil }
        }
        #expect(withdrawals > 200)
    }

    /// A log-in comes before the 25 s of its wake.
    @Test func `Every wake ends in time`() throws {
        let cases =
            try Self.cases("fetch-plans.json") + Self.cases("withdrawals.json")
            + Self.cases("hostile.json", "answers")
        #expect(cases.count > 400)
        for vector in cases {
            for wake in vector["wakes"]?.elements ?? [] {
                let end = try #require(wake["expect"]?["completedAtMs"]?.number)
                #expect(end <= 25_050, "\(vector["name"]?.text ?? "")")
            }
        }
    }

    /// Whatever goes wrong, the user sees something: the secret, the generic text or the prompt.
    @Test func `No push is without an effect`() throws {
        for vector in try Self.cases("fetch-plans.json") where vector["length"]?.text != "" {
            guard let first = vector["wakes"]?.elements?.first?["expect"] else { continue }
            let seen = ["shown", "generic", "prompts"].reduce(0) { $0 + (first[$1]?.elements?.count ?? 0) }
            #expect(seen > 0, "\(vector["name"]?.text ?? "")")
        }
    }
}
