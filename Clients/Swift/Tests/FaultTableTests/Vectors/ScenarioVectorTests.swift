import Foundation
import SecurePushClient
import Testing

#if os(Linux)
/// The scenarios that all SDKs run (`Clients/vectors`), with simulated time.
///
/// `SECUREPUSH_OBSERVATIONS=FOLDER` also writes what this SDK did, for `vectors record`.
@Suite(.timeLimit(.minutes(10)), .enabled(if: ScenarioFile.areThere)) struct ScenarioVectorTests {
    @Test(arguments: ScenarioFile.allCases) func theClientDoesWhatTheVectorsSay(_ file: ScenarioFile) async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [file = file as ScenarioFile] in
            let report = try await SimulatedExecutor.simulate { try ScenarioReport(file) }
            print(report.summary)
            #expect(report.complaints == [], "\(report.complaints.count) cases")
            #expect(report.cases >= file.fewest)
            try report.writeObservations()
        }
        show(result)
    }
}

/// A file of scenarios.
enum ScenarioFile: String, CaseIterable, Codable, Sendable {
    case fetchPlans = "fetch-plans.json"
    case withdrawals = "withdrawals.json"
    case hostile = "hostile.json"

    /// A file with fewer cases is not the one that was meant.
    var fewest: Int { self == .fetchPlans ? 300 : 15 }

    /// `Clients/vectors`. The package alone, which `make client-release` splits off, has no such folder.
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../../vectors").standardizedFileURL

    static var areThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// The scenarios of the file.
    func cases() throws -> [[String: Any]] {
        let data = try Data(contentsOf: Self.folder.appendingPathComponent(rawValue))
        let file = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return file?[self == .hostile ? "answers" : "cases"] as? [[String: Any]] ?? []
    }
}

/// The result of a file.
struct ScenarioReport: Sendable {
    private(set) var cases = 0
    private(set) var wakes = 0
    private(set) var requests = 0
    /// What is wrong, one line for each case.
    private(set) var complaints: [String] = []
    private let file: ScenarioFile
    /// What was seen in the wakes of each case, as JSON.
    private var observations: [String: Data] = [:]

    init(_ file: ScenarioFile) throws {
        self.file = file
        for json in try file.cases() {
            let run = try ScenarioRun(json)
            do {
                try SimulatedExecutor.run(seed: 0, clock: run.clock, limit: 366 * 86_400) { try await run.all() }
            } catch {
                run.complain("\(error)")
            }
            cases += 1
            wakes += run.wakes
            requests += run.requests
            if let first = run.complaints.first { complaints.append("\(run.name): \(first)") }
            observations[run.name] = try JSONSerialization.data(
                withJSONObject: run.observations, options: [.sortedKeys, .withoutEscapingSlashes])
        }
    }

    /// Writes an object with an array for each case: the observations of its wakes.
    func writeObservations() throws {
        guard let folder = ProcessInfo.processInfo.environment["SECUREPUSH_OBSERVATIONS"] else { return }
        let seen = try observations.mapValues { try JSONSerialization.jsonObject(with: $0) }
        try JSONSerialization.data(withJSONObject: seen, options: [.sortedKeys, .withoutEscapingSlashes])
            .write(to: URL(fileURLWithPath: folder).appendingPathComponent(file.rawValue))
    }

    var summary: String {
        """
        Vectors, \(file.rawValue): \(cases) cases with \(wakes) wakes and \(requests) requests, 0 skipped. \
        Wrong: \(complaints.count).
        """ + complaints.prefix(20).map { "\n  \($0)" }.joined()
    }
}
#endif
