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
        let handle = isDirect ? request.headers[HubHeaders.deviceHandle] : nil
        guard !isDirect || handle?.isEmpty == false else {
            throw HubError.badRequest("A direct send needs the ServiceBusNotification-DeviceHandle header.")
        }
        let kind: RecordedRequest.Kind = isDirect ? .direct : call.query.isOn("test") ? .test : .send
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
        _ request: Request, call: HubCall, kind: RecordedRequest.Kind, handles: [String]
    ) async throws {
        let addressing = try SendAddressing(
            kind: kind, format: request.headers[HubHeaders.format],
            tags: request.headers[HubHeaders.tags])
        let body = Array(try await request.body.collect(upTo: Self.maximumBodySize).readableBytesView)
        try WindowsRules.checkRaw(addressing.format, request.headers)
        if addressing.format == .template { _ = try TemplateProperties(message: body) }
        self.init(addressing, handles: handles, body: body, headers: request.headers, call: call)
    }
}
