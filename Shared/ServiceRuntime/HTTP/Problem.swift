public import HTTPTypes

/// An error as a client sees it: `application/problem+json` (RFC 9457).
///
/// Routes throw it; ``ProblemMiddleware`` fills in ``instance`` and turns every other error into one. Nothing of a
/// payload, a credential or a token belongs into any member.
public struct Problem: Error, Sendable, Hashable {
    /// One offending member of a request.
    public struct Member: Sendable, Hashable {
        /// RFC 6901 pointer in the contract's own spelling, as `/Recipient`; empty for the whole document.
        public let pointer: String
        /// What is wrong with it.
        public let detail: String

        public init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }
    }

    public var status: HTTPResponse.Status
    /// A URI; `about:blank` says that the status tells all (RFC 9457, 4.2.1).
    public var type: String
    /// The same for every problem of a type; by default the status's reason phrase.
    public var title: String
    /// What happened this time, for a person.
    public var detail: String?
    /// The ID of the request.
    public var instance: String?
    /// For validation: every offending member.
    public var errors: [Member]
    /// Headers beside `Content-Type`, as `WWW-Authenticate` and `Retry-After`.
    public var headers: HTTPFields

    public init(
        _ status: HTTPResponse.Status, _ detail: String? = nil, type: String = "about:blank", title: String? = nil,
        errors: [Member] = [], headers: HTTPFields = [:]
    ) {
        self.status = status
        self.type = type
        self.title = title ?? Problem.title(of: status)
        self.detail = detail
        self.errors = errors
        self.headers = headers
    }

    private static func title(of status: HTTPResponse.Status) -> String {
        switch status.code {
        case 413: "Content Too Large"
        case 422: "Unprocessable Content"
        default: status.reasonPhrase.isEmpty ? "Error \(status.code)" : status.reasonPhrase
        }
    }
}

extension Problem: CustomStringConvertible {
    public var description: String { "problem \(status.code): \(detail ?? title)" }
}
