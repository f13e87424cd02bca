import Authentication
import Domain
import Foundations
import Hummingbird
import Metrics
import NIOCore
import ServiceRuntime

/// `POST /api/notifications/{id}/shown`: a device has shown a notification, or its generic text in its place.
struct ShownController: Sendable {
    let users: UserAuthenticator
    let notifications: any NotificationReader
    let reports: any DeviceReportStore
    let metrics: PrometheusMetrics

    /// Four short values.
    static let maxBodyBytes = 2048

    /// It is refused as a fetch is, but it does not need the payload: one that a fetch has destroyed was shown too.
    /// Older SDKs send no body: they report secrets only.
    @Sendable func report(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        let body = try await request.wholeBody(upTo: Self.maxBodyBytes)
        var shown: ShownRequest?
        if body.readableBytes > 0 {
            guard MediaType.isJSON(request.headers[.contentType]) else {
                throw Problem.unsupportedMediaType("The body must be application/json in UTF-8.")
            }
            shown = try body.readJSON(.object { ShownRequest(&$0) })
        }
        guard let id = context.notificationID else { throw NotificationReadController.notFound }
        let now = Timestamp.now
        let state = try await notifications.states([id], recipient: user)[id]
        guard let state, state.access(at: now) != .absent else { throw NotificationReadController.notFound }
        let platform = try await note(shown, id, user, now: now)
        count(shown?.report, on: platform)
        guard state.access(at: now) == .readable else { throw NotificationReadController.gone(state) }
        // The generic text does not show the notification.
        if shown?.report.text != .generic { try await notifications.markShown(id, at: now) }
        return Response(status: .noContent)
    }

    /// - Returns: the platform of the device; `nil` if the device is not known.
    private func note(
        _ shown: ShownRequest?, _ id: NotificationID, _ user: UserName, now: Timestamp
    ) async throws -> String? {
        guard let shown, let device = shown.deviceID else { return nil }
        return try await reports.report(shown.report, of: id, by: device, owner: user, now: now)
    }

    private func count(_ report: DeviceReport?, on platform: String?) {
        let platform = platform.flatMap { name in Platform.known.first { $0.rawValue == name } }
        let code = report?.code.map { DeviceReport.knownCodes.contains($0) ? $0 : "other" }
        Metric.deviceShown.counter(
            platform?.rawValue ?? "unknown", (report?.text ?? .secret).rawValue, code ?? "none", in: metrics
        ).increment()
    }
}

/// The body: `{"Text","Code","Sdk","DeviceId"}`.
private struct ShownRequest: Sendable {
    let report: DeviceReport
    let deviceID: String?

    init?(_ json: inout JSONObjectReader) {
        let text = json.required(
            "Text", .string("The value must be secret or generic.") { DeviceReport.Text(rawValue: $0) })
        let code = json.optional(
            "Code", .text { DeviceReport.isCode($0) ? nil : "A code is SP- and 1 to 16 of A-Z 0-9." })
        let sdk = json.optional(
            "Sdk", .text { DeviceReport.isSDK($0) ? nil : "The value must be 1 to 64 visible ASCII characters." })
        deviceID = json.optional("DeviceId", .text { DeviceID.isValid($0) ? nil : DeviceID.requirement })
        guard let text else { return nil }
        report = DeviceReport(text: text, code: code, sdk: sdk)
    }
}
