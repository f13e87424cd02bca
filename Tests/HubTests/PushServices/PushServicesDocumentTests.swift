import Domain
import Foundation
import Logging
import PushServices
import StackKit
import Testing

@testable import Hub

/// docs/reference/push-services.md says what becomes of each answer.
@Suite(.timeLimit(.minutes(2))) struct PushServicesDocumentTests {
    /// A push service that gives one answer.
    private struct Answering: PushHTTPSending {
        let status: Int
        let reason: String

        func send(
            _ request: PushHTTPRequest, deadline: ContinuousClock.Instant
        ) async -> Result<PushHTTPResponse, PushHTTPFailure> {
            let body = Array(#"{"reason":"\#(reason)"}"#.utf8)
            return .success(PushHTTPResponse(status: status, headers: [], body: status == 200 ? [] : body))
        }

        func close(deadline: ContinuousClock.Instant) async {}
    }

    struct Row: Hashable {
        var status: Int
        var reason: String
        var outcome: String
    }

    /// The rows of a table of answers: status, reason, text, outcome.
    static func rows(_ heading: String) throws -> [Row] {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/reference/push-services.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n\(heading)\n").dropFirst().first)
        let lines = (section.components(separatedBy: "\n#").first ?? "").split(separator: "\n")
        return lines.filter { $0.hasPrefix("| ") }.dropFirst(2).compactMap { line in
            let cells = line.split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
            }
            guard cells.count == 4, let status = Int(cells[0]) else { return nil }
            return Row(status: status, reason: cells[1], outcome: cells[3])
        }
    }

    @Test func `Each answer of APNs has the outcome of the page`() async throws {
        let configuration = try APNsConfiguration(
            key: ES256Key(), keyID: "ABC1234567", teamID: "DEF1234567", topic: "org.example.app")
        let rows = try Self.rows("### Answers of APNs")
        #expect(rows.count > 30)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        for row in rows {
            let connector = APNsConnector(
                configuration: configuration, client: Answering(status: row.status, reason: row.reason),
                tokens: APNsTokens(configuration, store: LocalPushTokens(), logger: logger))
            let request = PushRequest(address: .handle("abcd"), body: Array(#"{"aps":{"alert":"a"}}"#.utf8))
            let answer = await connector.push(request, deadline: .now + .seconds(30)).answer
            let outcome = answer.cause == nil ? answer.outcome : .unknown
            #expect(outcome.rawValue == row.outcome, "\(row.status) \(row.reason): \(answer)")
        }
    }

    @Test func `The page has every answer that APNs is known to give`() async throws {
        let rows = try Self.rows("### Answers of APNs").filter { $0.status != 200 }
        try await withPushService(.apns) { service in
            let known = try await service.knownAnswers().filter { $0.status != 200 }
            #expect(Set(rows.map { "\($0.status) \($0.reason)" }) == Set(known.map { "\($0.status) \($0.reason)" }))
            #expect(rows.count == known.count)
        }
    }
}
