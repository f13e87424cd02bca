import Foundation

/// Tells the answers of the retrieval service from those of a proxy, a gateway or a captive portal in front of it. All
/// errors of the service are `application/problem+json`, and its 401 has `WWW-Authenticate`; what else it sends is JSON
/// or nothing. The errors of a gateway may be JSON, too.
extension TransportResponse {
    private static let problem = "application/problem+json"

    private var mediaType: String {
        let value = headers["content-type"]?.split(separator: ";", omittingEmptySubsequences: false).first ?? ""
        return value.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// Whether an answer is JSON, or does not say what it is.
    var hasOwnForm: Bool { ["", "application/json", Self.problem].contains(mediaType) }

    private var isBare: Bool { mediaType.isEmpty && body.isEmpty }

    /// Whether an error can be of the service. A bare status says nothing of its sender.
    var isOwnRefusal: Bool { mediaType == Self.problem || isBare }

    /// Whether the service itself has refused the credentials. A 401 of a proxy says nothing of them.
    var isOwnUnauthorized: Bool {
        status == 401 && (mediaType == Self.problem || (isBare && hasChallenge))
    }

    private var hasChallenge: Bool {
        (headers["www-authenticate"] ?? "").split(separator: ",").contains { part in
            part.split(separator: " ").first?.lowercased() == "bearer"
        }
    }

    /// Whether a refusal cannot be of the service. Statuses after which the request is repeated anyway do not count.
    ///
    /// - Parameter isAuthorized: whether the request had credentials.
    func isForeignRefusal(isAuthorized: Bool) -> Bool {
        guard (400..<500).contains(status), status != 408, status != 429 else { return false }
        return status == 401 && isAuthorized ? !isOwnUnauthorized : !isOwnRefusal
    }

    /// Whether the service has carried out a request: the status of the route, and JSON for `GET`, otherwise no body. A
    /// captive portal answers everything with 200.
    func isSuccess(of call: RetrievalCall) -> Bool {
        hasOwnForm && status == call.success && (call.method == "GET" || body.isEmpty)
    }

    /// Whether an answer to a refresh ends the session: the service's own 401, or `invalid_grant` (RFC 6749, 5.2).
    var endsSession: Bool {
        guard status == 400, mediaType == "application/json" else { return isOwnUnauthorized }
        struct Refusal: Decodable {
            var error: String
        }
        return (try? JSONDecoder().decode(Refusal.self, from: body))?.error == "invalid_grant"
    }
}
