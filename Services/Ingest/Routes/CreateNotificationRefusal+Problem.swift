import HTTPTypes
import SecurePushCore
import ServiceRuntime

extension CreateNotificationRefusal {
    /// The answer to a refused body.
    var problem: Problem { problem(of: "body") }

    /// The answer to a refused text.
    ///
    /// - Parameter text: what it is called: body, line.
    func problem(of text: StaticString) -> Problem {
        switch self {
        case .malformed(let error):
            .badRequest("The \(text) is not JSON: \(error).")
        case .invalid(let issues):
            .unprocessable("Some members are not as they must be.", issues: issues)
        case .payloadTooLarge(let bytes):
            Problem(
                .contentTooLarge, "The payload may be at most 256 KiB, not \(bytes) bytes.",
                errors: [Problem.Member(pointer: "/Payload", detail: "The payload is too large.")])
        case .volumeTooLarge(let bytes):
            Problem(
                .contentTooLarge, "Recipients times the payload may be at most 8 MiB, not \(bytes) bytes.",
                errors: ["/Recipients", "/Payload"].map {
                    Problem.Member(pointer: $0, detail: "Send to fewer recipients at once, or a smaller payload.")
                })
        }
    }
}
