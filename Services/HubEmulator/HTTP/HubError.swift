import HTTPTypes
import Hummingbird
import NIOCore

/// An answer of the hub other than success, in the service's XML form.
struct HubError: Error, Sendable {
    let status: HTTPResponse.Status
    /// The text of `Detail`; a point, the tracking ID and the time follow, as recorded. Nil: an empty body, as the
    /// service sometimes answers.
    let detail: String?
    /// Whole seconds: official clients read no other form.
    let retryAfterSeconds: Int?

    init(_ status: HTTPResponse.Status, detail: String?, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds
    }

    static func unauthorized(_ fault: TokenFault) -> HubError { HubError(.unauthorized, detail: fault.detail) }
    /// The emulator keeps no more of something: 403 without `Retry-After`, as the service answers for quotas.
    static func full(_ detail: String) -> HubError { HubError(.forbidden, detail: detail) }
    static func badRequest(_ detail: String) -> HubError { HubError(.badRequest, detail: detail) }

    /// Recorded: a good token without the right gets 403 and no body.
    static let missingRight = HubError(.forbidden, detail: nil)
    static let unknownHub = HubError(.notFound, detail: "No service is hosted at the specified address.")
    /// Recorded: nothing stands before the tracking ID.
    static let unknownRegistration = HubError(.notFound, detail: "")
    /// Recorded.
    static let unknownInstallation = HubError(.notFound, detail: "Installation not found")
    static let unknownMessage = HubError(.notFound, detail: "The notification is not known.")
    /// Recorded.
    static let hubExists = HubError(.conflict, detail: "SubCode=40900. Conflict")
    static let registrationGone = HubError(
        .gone, detail: "The registration id was deleted and may not be used again: take a new one.")
    static let entityTagMismatch = HubError(
        .preconditionFailed, detail: "The ETag of the registration does not match the If-Match header.")
    static let internalError = HubError(.internalServerError, detail: "The server was unable to process the request.")
    static let stopping = HubError(.serviceUnavailable, detail: "The service is not available.", retryAfterSeconds: 1)
    static let bodyTooLarge = HubError(.contentTooLarge, detail: "The request is larger than 64 KB.")

    func response(for identity: RequestIdentity) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = HubHeaders.xmlContentType
        if let retryAfterSeconds { headers[.retryAfter] = String(retryAfterSeconds) }
        guard let detail else { return Response(status: status, headers: headers) }
        let tracking = ".TrackingId:\(identity.trackingID)_G0,TimeStamp:\(WireTime.now.american)"
        let text = XMLWriter.escape(detail + tracking)
        let body = "<Error><Code>\(status.code)</Code><Detail>\(text)</Detail></Error>"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: body)))
    }
}
