import Domain
import Foundation
import Foundations
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceRuntime

/// A response of the hub other than success, in the service's XML form.
struct HubError: Error, Sendable {
    let status: HTTPResponse.Status
    /// The text of `Detail`; a full stop, the tracking ID and the time follow, as recorded. Nil: an empty body, as the
    /// service sometimes answers.
    let detail: String?
    /// Whole seconds: official clients read no other form.
    let retryAfterSeconds: Int?
    /// Whether the tracking ID and the time follow the detail.
    private let isTracked: Bool

    init(_ status: HTTPResponse.Status, detail: String?, retryAfterSeconds: Int? = nil, isTracked: Bool = true) {
        self.status = status
        self.detail = detail
        self.retryAfterSeconds = retryAfterSeconds
        self.isTracked = isTracked
    }

    static func unauthorized(_ fault: TokenFault) -> HubError { HubError(.unauthorized, detail: fault.detail) }
    /// A limit of the emulator is reached: 403 without `Retry-After`, as the service answers for quotas.
    static func full(_ detail: String) -> HubError { HubError(.forbidden, detail: detail) }
    static func badRequest(_ detail: String) -> HubError { HubError(.badRequest, detail: detail) }

    /// Recorded: a valid token without the right gets 403 and no body.
    static let missingRight = HubError(.forbidden, detail: nil)
    /// Recorded: the answer to a read of a hub with a wrong key.
    static let missingManageClaim = HubError(.unauthorized, detail: "Manage claim is required for this operation.")
    /// Recorded: this detail has no tracking ID.
    static let rawOfAnotherType = HubError(
        .badRequest, detail: "The content type for a 'wns/raw' notification must be 'application/octet-stream'",
        isTracked: false)
    static let unknownHub = HubError(.notFound, detail: "No service is hosted at the specified address.")
    /// Recorded: no text precedes the tracking ID.
    static let unknownRegistration = HubError(.notFound, detail: "")
    /// Recorded.
    static let unknownInstallation = HubError(.notFound, detail: "Installation not found")
    static let unknownMessage = HubError(.notFound, detail: "The notification is not known.")
    /// Recorded.
    static let hubExists = HubError(.conflict, detail: "SubCode=40900. Conflict")
    static let registrationGone = HubError(
        .gone, detail: "The registration id was deleted and cannot be used again. Get a new one.")
    static let entityTagMismatch = HubError(
        .preconditionFailed, detail: "The ETag of the registration does not match the If-Match header.")
    static let internalError = HubError(.internalServerError, detail: "The server was unable to process the request.")
    static let stopping = HubError(.serviceUnavailable, detail: "The service is not available.", retryAfterSeconds: 1)
    static let bodyTooLarge = HubError(.contentTooLarge, detail: "The request is larger than 64 KB.")

    static let installationTooLarge = HubError(
        .contentTooLarge, detail: "The installation would be larger than 64 KB.")

    func response(for identity: RequestIdentity) -> Response {
        var headers = HTTPFields()
        if let retryAfterSeconds { headers[.retryAfter] = String(retryAfterSeconds) }
        guard let detail else { return Response(status: status, headers: headers) }
        let tracking =
            isTracked ? ".TrackingId:\(identity.trackingID)_G0,TimeStamp:\(Timestamp.now.american)" : ""
        let text = XMLWriter.escape(detail + tracking)
        return .hub(
            "<Error><Code>\(status.code)</Code><Detail>\(text)</Detail></Error>", status: status, headers: headers)
    }
}

/// The two IDs that every response of the hub carries, so that a client's log can be matched with the server's.
struct RequestIdentity: Sendable {
    let trackingID: String
    let correlationID: String

    /// Takes the client's IDs, or makes new ones.
    init(headers: HTTPFields) {
        let given = { (name: HTTPField.Name) in headers[name].flatMap { $0.isEmpty ? nil : $0 } }
        trackingID = given(HubHeaders.trackingID) ?? NotificationID.ofRequest().description
        correlationID = given(HubHeaders.correlationID) ?? trackingID
    }

    func stamp(_ response: inout Response) {
        response.headers[HubHeaders.trackingID] = trackingID
        response.headers[HubHeaders.correlationID] = correlationID
    }
}

/// Turns the errors of the hub's routes into responses and puts the tracking IDs on every response.
struct HubErrorMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        let identity = RequestIdentity(headers: request.headers)
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as HTTPParserError {
            throw error  // Hummingbird closes the connection.
        } catch {
            response = hubError(for: error, context).response(for: identity)
        }
        identity.stamp(&response)
        return response
    }

    private func hubError(for error: any Error, _ context: EmulatorContext) -> HubError {
        switch error {
        case let error as HubError: return error
        case is NIOTooManyBytesError: return .bodyTooLarge
        case let error as HTTPError: return HubError(error.status, detail: error.body ?? error.status.reasonPhrase)
        // A problem means that a fault cut the connection: nobody reads the response.
        case is CancellationError, is Problem: return .stopping
        case let error as StorageError:
            context.logger.warning("The database failed", metadata: ["error": "\(error)"])
            return .stopping
        default:
            // The type only: a description could hold a part of the request.
            context.logger.error(
                "Request failed unexpectedly", metadata: ["error.type": "\(String(reflecting: type(of: error)))"])
            return .internalError
        }
    }
}

/// The header names and values of the hub's REST API.
enum HubHeaders {
    static let xmlContentType = "application/xml; charset=utf-8"

    static let format = HTTPField.Name(static: "ServiceBusNotification-Format")
    static let tags = HTTPField.Name(static: "ServiceBusNotification-Tags")
    /// The outcomes of a send so far, such as `Success=2, Unknown=1`. Only this hub sends it.
    static let outcome = HTTPField.Name(static: "SecurePush-Outcome")
    /// The keys of a browser's subscription, in a direct send.
    static let p256dh = HTTPField.Name(static: "P256DH")
    static let auth = HTTPField.Name(static: "Auth")
    static let deviceHandle = HTTPField.Name(static: "ServiceBusNotification-DeviceHandle")
    static let scheduleTime = HTTPField.Name(static: "ServiceBusNotification-ScheduleTime")
    static let requestID = HTTPField.Name(static: "X-Request-Id")
    static let trackingID = HTTPField.Name(static: "TrackingId")
    static let correlationID = HTTPField.Name(static: "x-ms-correlation-request-id")
    static let windowsType = HTTPField.Name(static: "X-WNS-Type")
    static let applePushType = HTTPField.Name(static: "apns-push-type")
    static let xApplePushType = HTTPField.Name(static: "x-apns-push-type")
    static let continuationToken = HTTPField.Name(static: "x-ms-continuationtoken")
}

extension Timestamp {
    /// `11/7/2018 12:18:37 AM`, the form of the hub's errors.
    fileprivate var american: String {
        let time = CivilTime(self)
        let padded = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
        let hour = time.hour % 12 == 0 ? 12 : time.hour % 12
        return "\(time.month)/\(time.day)/\(time.year) \(hour):\(padded(time.minute)):\(padded(time.second)) "
            + (time.hour < 12 ? "AM" : "PM")
    }
}
