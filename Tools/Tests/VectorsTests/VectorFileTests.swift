import Foundation
import SecurePushCore
import Testing

@testable import Vectors

@Suite struct VectorFileTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Clients/vectors").standardizedFileURL.path
    /// Made once: signing takes its time without optimisation.
    private static let files = Result { try VectorFile.all() }

    private static func cases(_ name: String, _ list: String = "cases") throws -> [JSONValue] {
        let file = try files.get().first { $0.name == name }
        return file?.lists.first { $0.name == list }?.cases.map(\.json.value) ?? []
    }

    #if os(Linux)
    /// Only on Linux: on Apple's systems the signatures of CryptoKit are different each time.
    @Test func theFilesAreThoseOfTheGenerator() throws {
        for file in try Self.files.get() {
            #expect(try file.isCurrent(in: Self.folder), "\(file.name) is old. Run `vectors write Clients/vectors`.")
        }
    }
    #endif

    @Test func aChangedFileIsNoticed() throws {
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

    @Test func everyCaseHasANameOfItsOwn() throws {
        for file in try Self.files.get() {
            let names = file.lists.flatMap(\.cases).compactMap { $0.json.value["name"]?.text }
            #expect(names.count == file.count && Set(names).count == names.count, "\(file.name)")
        }
    }

    /// Each fault of the network at each of 8 stages, once and lasting, in two ways.
    @Test func theTableOfFaultsIsComplete() throws {
        let cases = try Self.cases("fetch-plans.json")
        for fault in NetworkFault.allCases {
            let cells = cases.filter { $0["fault"]?.text == fault.name }.map { vector in
                ["stage", "length", "way"].compactMap { vector[$0]?.text }.joined(separator: " ")
            }
            #expect(cells.count == 32 && Set(cells).count == 32, "\(fault.name): \(cells)")
        }
    }

    /// Whatever goes wrong, and although the server withdraws what the device has fetched, each secret is shown once
    /// and stays.
    @Test func everyCellEndsWithBothSecrets() throws {
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
    @Test func everyWakeEndsInTime() throws {
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
    @Test func noPushIsWithoutAnEffect() throws {
        for vector in try Self.cases("fetch-plans.json") where vector["length"]?.text != "" {
            guard let first = vector["wakes"]?.elements?.first?["expect"] else { continue }
            let seen = ["shown", "generic", "prompts"].reduce(0) { $0 + (first[$1]?.elements?.count ?? 0) }
            #expect(seen > 0, "\(vector["name"]?.text ?? "")")
        }
    }
}
