/// An error answer (RFC 9457) as a person reads it.
struct ProblemDocument: Decodable, Sendable, Equatable {
    struct Fault: Decodable, Sendable, Equatable {
        var pointer: String?
        var detail: String?
    }

    var title: String?
    var detail: String?
    var errors: [Fault]?

    /// The failure that a command reports for an answer with an error status; a body that is no problem document is
    /// left out, for it may be anything.
    static func failure(_ answer: APIAnswer, from service: String) -> CommandFailure {
        let problem = try? JSONText.decode(ProblemDocument.self, from: answer.body)
        let words = [problem?.title, problem?.detail].compactMap { $0?.printable }
        let what = words.isEmpty ? "no reason given" : words.joined(separator: ": ")
        let details = (problem?.errors ?? []).map { fault in
            [fault.pointer, fault.detail].compactMap { $0?.printable }.joined(separator: ": ")
        }
        let code: CommandFailure.Code = [502, 503, 504].contains(answer.status) ? .unreachable : .failed
        return CommandFailure(
            code, "\(service) answered \(answer.status): \(what)", details: details, hint: hint(answer, service))
    }

    private static func hint(_ answer: APIAnswer, _ service: String) -> String? {
        switch answer.status {
        case 401 where service == "ingest":
            "Give an API key by --api-key-file or INGEST_API_KEY (securepush api-keys add NAME makes one)."
        case 401: "Give a token by --token-file or RETRIEVAL_TOKEN, or a password by --password-file."
        case 429, 503: answer.retryAfter.map { "Try again in \($0) s." }
        default: nil
        }
    }
}
