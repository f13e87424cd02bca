public import Foundation

/// Sends one request and returns its response. ``URLSessionTransport`` is the real one; tests inject a simulated one.
///
/// A transport follows no redirect, so that credentials go to no other host. It stops when the task is cancelled.
public protocol Transport: Sendable {
    /// Sends a request.
    ///
    /// - Parameters:
    ///   - request: the request. Its URL begins with ``SecurePushConfiguration/retrievalURL``.
    ///   - timeout: the longest time for the whole exchange, in seconds.
    ///   - maxBytes: the longest body to accept.
    /// - Throws: ``TransportError``, or `CancellationError`.
    func send(_ request: TransportRequest, timeout: TimeInterval, maxBytes: Int) async throws -> TransportResponse
}

/// A request to the retrieval service.
public struct TransportRequest: Sendable {
    /// `GET`, `HEAD`, `PUT`, `POST` or `DELETE`.
    public var method: String
    /// The whole URL.
    public var url: URL
    /// The header fields, `Authorization` included: never log them.
    public var headers: [String: String]
    /// The body; `nil` for none.
    public var body: Data?

    /// Makes a request.
    public init(method: String, url: URL, headers: [String: String] = [:], body: Data? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A response of the retrieval service.
public struct TransportResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The header fields, with names in lower case.
    public var headers: [String: String]
    /// The body: a secret in a successful fetch.
    public var body: Data

    /// Makes a response. The names of the headers become lower case.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        self.body = body
    }
}

/// Why there is no response.
public enum TransportError: Error, Sendable, Equatable {
    /// No connection, or it broke. Another try can succeed.
    case unreachable
    /// No complete response within the time-out. Another try can succeed.
    case timedOut
    /// The server's certificate is not trusted. Another try does not help.
    case untrusted
    /// The body is longer than the limit. Another try does not help.
    case tooLarge
}
