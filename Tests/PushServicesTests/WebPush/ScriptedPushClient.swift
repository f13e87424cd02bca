import PushServices
import Synchronization

/// Stands in for the HTTP client: it keeps the requests, and answers with what a test has prepared.
final class ScriptedPushClient: PushHTTPSending {
    typealias Answer = Result<PushHTTPResponse, PushHTTPFailure>

    private let state: Mutex<(answers: [Answer], requests: [PushHTTPRequest], isClosed: Bool)>

    /// - Parameter answers: of the requests in their order; 201 after them.
    init(_ answers: [Answer] = []) { state = Mutex((answers, [], false)) }

    var requests: [PushHTTPRequest] { state.withLock { $0.requests } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func send(_ request: PushHTTPRequest, deadline: ContinuousClock.Instant) async -> Answer {
        state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? .answer(201) : state.answers.removeFirst()
        }
    }

    func close(deadline: ContinuousClock.Instant) async { state.withLock { $0.isClosed = true } }
}

extension Result where Success == PushHTTPResponse, Failure == PushHTTPFailure {
    /// A response with a body of text.
    static func answer(_ status: Int, _ headers: [(name: String, value: String)] = [], _ body: String = "") -> Self {
        .success(PushHTTPResponse(status: status, headers: headers, body: Array(body.utf8)))
    }

    /// Apple's form of an error.
    static func apple(_ status: Int, _ reason: String) -> Self { answer(status, [], #"{"reason":"\#(reason)"}"#) }
}

extension PushHTTPRequest {
    /// The only value of a field; `nil` if it is missing or there twice.
    subscript(_ name: String) -> String? {
        let values = headers.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }
}
