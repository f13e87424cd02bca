/// A request to a push service. It is always a POST.
package struct PushHTTPRequest: Sendable {
    package var origin: PushOrigin
    /// With the query; begins with a slash.
    package var path: String
    package var headers: [PushHTTPField]
    package var body: [UInt8]

    package init(origin: PushOrigin, path: String, headers: [PushHTTPField], body: [UInt8]) {
        self.origin = origin
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// The scheme is always `https`.
package struct PushOrigin: Sendable, Hashable {
    package var host: String
    package var port: Int

    package init(host: String, port: Int = 443) {
        self.host = host
        self.port = port
    }
}

/// A header field with its name in lower case.
package struct PushHTTPField: Sendable, Hashable {
    /// How HPACK writes the field (RFC 7541, section 6.2).
    package enum Indexing: Sendable, Hashable {
        case indexed, notIndexed, neverIndexed
        /// In the first request of a connection, so that later ones name the field by a number. Their values are not
        /// indexed, because each is different. Apple recommends this.
        case nameIndexed
    }

    package var name: String
    package var value: String
    package var indexing: Indexing

    package init(_ name: String, _ value: String, indexing: Indexing = .indexed) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }
}

package struct PushHTTPResponse: Sendable {
    package var status: Int
    /// Names are in lower case.
    package var headers: [(name: String, value: String)]
    /// At most 64 KiB; the rest is not read.
    package var body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first value of a field; the name is in lower case.
    package subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Why a request got no response. The reasons hold no secrets and no addresses.
package enum PushHTTPFailure: Error, Sendable, Hashable {
    /// No part of the request reached the server, or the server said that it did not process it (RFC 9113, section
    /// 8.7).
    case notSent(reason: String)
    /// The server may have processed it.
    case unanswered(reason: String)
}

/// Sends requests to push services, over HTTP/2 or HTTP/1.1. Tests of connectors may stand in for it.
package protocol PushHTTPSending: Sendable {
    /// Sends a request and returns by the deadline, and at once when the task is cancelled.
    func send(
        _ request: PushHTTPRequest, deadline: ContinuousClock.Instant
    ) async -> Result<PushHTTPResponse, PushHTTPFailure>

    func close(deadline: ContinuousClock.Instant) async
}
