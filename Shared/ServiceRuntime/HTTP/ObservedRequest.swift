import Domain
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// A request that is traced, or logged because of `ACCESS_LOG`, until its answer is complete.
struct ObservedRequest: Sendable {
    /// What the access log shows beside the parts that every request has.
    struct AccessLine: Sendable {
        /// The path without its query, if no route has it. The paths of routes can contain names of users.
        var path: String?
        /// The captured `{id}` of the path.
        var id: String?
        /// The address at the other end of the connection; `nil` in tests without a port.
        var client: String?

        /// Longer paths are cut.
        static let maxPath = 200
    }

    let method: HTTPRequest.Method
    /// The template; `nil` if no route has the path.
    let route: String?
    let requestID: String
    let start: ContinuousClock.Instant
    let trace: RequestTrace?
    /// `nil` if the request is not logged.
    let line: AccessLine?

    /// Ends the span and writes the line.
    ///
    /// - Parameters:
    ///   - bytes: of the answer's body.
    ///   - isComplete: whether the whole answer was written.
    func end(_ status: Int, bytes: Int, isComplete: Bool = true, logger: Logger) {
        let context = trace?.context
        trace?.end(method, route: route, status: status)
        guard let line else { return }
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        var metadata: Logger.Metadata = [
            "http.request.method": "\(HTTPInstruments.methodLabel(method))",
            "http.response.status_code": "\(status)", "http.response.body.size": "\(bytes)",
            "duration_us": "\(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)",
        ]
        if let route { metadata["http.route"] = "\(route)" }
        if let path = line.path { metadata["url.path"] = "\(path.prefix(AccessLine.maxPath))" }
        if let id = line.id {
            metadata["id"] = "\(NotificationID.logged(id, route: route).prefix(AccessLine.maxPath))"
        }
        if let client = line.client { metadata["client.address"] = "\(client)" }
        if !isComplete { metadata["aborted"] = "true" }
        logger.of(request: requestID, trace: context).info("Request answered", metadata: metadata)
    }

    /// The response, whose end is the end of the request.
    func observing(_ response: Response, logger: Logger) -> Response {
        let status = response.status.code
        if let bytes = response.body.contentLength {
            end(status, bytes: bytes, logger: logger)
            return response
        }
        let body = response.body
        var response = response
        response.body = ResponseBody { writer in
            let bytes = ByteCount()
            let counted = body.map { part in
                bytes.add(part.readableBytes)
                return part
            }
            do {
                try await counted.write(writer)
            } catch {
                end(status, bytes: bytes.total, isComplete: false, logger: logger)
                throw error
            }
            end(status, bytes: bytes.total, logger: logger)
        }
        return response
    }
}

extension NotificationID {
    /// The `{id}` of a path for a log: that of a notification as answers have it, though a client may write it in upper
    /// case. Otherwise a search for the ID would not find the line.
    static func logged(_ text: String, route: String?) -> String {
        guard route?.contains("/notifications/{id}") == true else { return text }
        return NotificationID(text)?.description ?? text
    }
}

/// Counts the bytes of a streamed answer.
private final class ByteCount: Sendable {
    private let count = Atomic(0)

    var total: Int { count.load(ordering: .relaxed) }

    func add(_ bytes: Int) { count.add(bytes, ordering: .relaxed) }
}
