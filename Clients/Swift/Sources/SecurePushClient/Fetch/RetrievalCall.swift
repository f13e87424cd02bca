import Foundation

/// A request to the retrieval service, without the server and the credentials.
struct RetrievalCall: Sendable {
    var method = "GET"
    /// The path below the server's URL. Its characters need no percent coding.
    var path: String
    /// The values need no percent coding.
    var query: [(name: String, value: String)] = []
    var json: Data?
    /// The status of a success.
    var success = 200
    /// `false` for an answer that is the same for everybody.
    var isAuthorized = true
    /// `false` for a request that the next wake sends again if this one fails.
    var isRetried = true

    /// Builds the request; `nil` if the server's URL cannot be used.
    func request(to baseURL: URL, with credentials: ClientCredentials?) -> TransportRequest? {
        guard let url = url(below: baseURL) else { return nil }
        var headers = ["Accept": "application/json"]
        headers["Authorization"] = credentials?.authorization
        if json != nil { headers["Content-Type"] = "application/json" }
        return TransportRequest(method: method, url: url, headers: headers, body: json)
    }

    private func url(below baseURL: URL) -> URL? {
        guard var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: false) else { return nil }
        var base = components.percentEncodedPath
        while base.hasSuffix("/") { base.removeLast() }
        components.percentEncodedPath = "\(base)/\(path)"
        if !query.isEmpty {
            components.percentEncodedQuery = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        }
        return components.url
    }
}

extension Transport {
    /// Sends a request. The time-out and the maximum size hold even if the transport ignores them.
    ///
    /// - Throws: the errors of the transport, and `CancellationError`.
    func send(
        _ request: TransportRequest, timeout: TimeInterval, maxBytes: Int, on clock: any ClientClock
    ) async throws -> TransportResponse {
        try await TimeLimit.run(until: clock.uptime + timeout, on: clock) {
            let response = try await send(request, timeout: timeout, maxBytes: maxBytes)
            guard response.body.count <= maxBytes else { throw TransportError.tooLarge }
            return response
        }
    }
}
