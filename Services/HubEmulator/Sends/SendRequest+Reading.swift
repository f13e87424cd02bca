import HTTPTypes
import Hummingbird

extension SendRequest {
    /// The hub's limit for a notification.
    static let maximumBodySize = 64 * 1024

    /// Reads `POST /{hub}/messages`: plain, direct or debug.
    ///
    /// - Throws: 400 that says what is wrong, 413.
    init(_ request: Request, call: HubCall) async throws {
        let isDirect = call.query.isOn("direct")
        let handle = isDirect ? request.headers.value(of: HubHeaders.deviceHandle) : nil
        guard !isDirect || handle?.isEmpty == false else {
            throw HubError.badRequest("A direct send needs the ServiceBusNotification-DeviceHandle header.")
        }
        let kind: CrossingRecord.Kind = isDirect ? .direct : call.query.isOn("test") ? .test : .send
        try await self.init(request, call: call, kind: kind, handles: handle.map { [$0] } ?? [])
    }

    /// Reads `POST /{hub}/schedulednotifications`.
    init(scheduling request: Request, call: HubCall) async throws {
        let now = WireTime.now
        guard let text = request.headers[HubHeaders.scheduleTime], let time = ScheduleTime.read(text) else {
            throw HubError.badRequest("The ServiceBusNotification-ScheduleTime header is missing or no time.")
        }
        guard time.milliseconds <= now.milliseconds + ScheduleTime.horizonMilliseconds else {
            throw HubError.badRequest("A notification can be scheduled for at most 7 days ahead.")
        }
        try await self.init(request, call: call, kind: .scheduled, handles: [])
        dueAt = time
    }

    private init(
        _ request: Request, call: HubCall, kind: CrossingRecord.Kind, handles: [String]
    ) async throws {
        let format = try Self.format(of: request.headers)
        let tags = request.headers.value(of: HubHeaders.tags)
        let expression = kind == .direct ? nil : try TagExpression.parse(tags)
        guard kind != .direct || format != .template else { throw Self.directTemplate }
        let body = Array(try await request.body.collect(upTo: Self.maximumBodySize).readableBytesView)
        if format == .template { _ = try TemplateProperties(message: body) }
        self.init(
            kind: kind, format: format, tags: tags, expression: expression, handles: handles, body: body,
            headers: request.headers, call: call, receivedAt: .now)
    }

    static let directTemplate = HubError.badRequest("A direct send takes the format of a platform, not template.")

    /// - Throws: 400 when the header is missing or names no format.
    static func format(of headers: HTTPFields) throws(HubError) -> NotificationFormat {
        guard let format = headers.value(of: HubHeaders.format).flatMap(NotificationFormat.init(header:)) else {
            throw HubError.badRequest("The ServiceBusNotification-Format header is missing or not known.")
        }
        return format
    }
}
