import Foundation
import SecurePushClient

#if os(Linux)
/// The server of a scenario: rules, each with its answers.
///
/// Unchecked, because only the thread of the simulation touches it.
final class ScriptedTransport: Transport, @unchecked Sendable {
    /// A request, as it was sent.
    struct Sent {
        let time: TimeInterval
        let json: [String: Any]
    }

    private struct Rule {
        let method: String
        let path: String
        let query: [String: String]
        var answers: [[String: Any]]
        let then: [String: Any]
    }

    private var rules: [Rule]
    private let host: String
    private let clock: SimulatedClock
    /// The requests of the wake.
    private(set) var requests: [Sent] = []

    init(_ rules: [[String: Any]], host: String, clock: SimulatedClock) throws {
        self.rules = try rules.map { rule in
            guard let method = rule["method"] as? String, let path = rule["path"] as? String,
                let query = rule["query"] as? [String: String], let answers = rule["answers"] as? [[String: Any]],
                let then = rule["then"] as? [String: Any]
            else { throw ScenarioRun.Malformed() }
            return Rule(method: method, path: path, query: query, answers: answers, then: then)
        }
        self.host = host
        self.clock = clock
    }

    func begin() { requests = [] }

    func send(_ request: TransportRequest, timeout: TimeInterval, maxBytes: Int) async throws -> TransportResponse {
        let answer = record(request)
        let seconds = TimeInterval(answer["afterMs"] as? Int ?? 600_000) / 1_000
        // What comes at the time-out or later comes too late; the client does not wait for it.
        try await clock.sleep(for: seconds < timeout ? seconds : 600)
        switch answer["error"] as? String {
        case "unreachable": throw TransportError.unreachable
        case "untrusted": throw TransportError.untrusted
        default: break
        }
        let count = answer["bodyBytes"] as? Int
        if let count, count > maxBytes { throw TransportError.tooLarge }
        let body = count.map { Data(repeating: UInt8(ascii: "x"), count: $0) }
        return TransportResponse(
            status: answer["status"] as? Int ?? 0, headers: answer["headers"] as? [String: String] ?? [:],
            body: body ?? Data((answer["body"] as? String ?? "").utf8))
    }

    /// Writes a request down, and takes its answer.
    private func record(_ request: TransportRequest) -> [String: Any] {
        let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        let query = Dictionary((parts?.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { first, _ in first }
        // Another host would be seen here.
        let path = parts?.host == host && parts?.scheme == "https" ? parts?.path ?? "" : "\(request.url)"
        let authorization: Any = request.headers["Authorization"] ?? NSNull()
        requests.append(
            Sent(
                time: clock.uptime,
                json: ["method": request.method, "path": path, "query": query, "authorization": authorization]))
        let index = rules.firstIndex { rule in
            rule.method == request.method && rule.path == path && rule.query.allSatisfy { query[$0.key] == $0.value }
        }
        guard let index else { return ["afterMs": 50, "status": 404] }
        return rules[index].answers.isEmpty ? rules[index].then : rules[index].answers.removeFirst()
    }
}
#endif
