import Foundation
import Foundations
import HTTPTypes
import Hummingbird

/// A valid request to send a notification.
struct SendRequest: Sendable {
    /// The hub's limit for a notification, in bytes.
    private static let maxBodySize = 64 * 1024
    /// The hub's limit for the handles of a batch.
    private static let maxHandles = 1000
    /// A notification and ``maxHandles`` handles of any platform, in bytes.
    private static let maxBatchSize = 2 * 1024 * 1024
    /// The hub's limit for scheduled sends.
    private static let scheduleHorizon = Duration.seconds(7 * 86_400)

    let kind: RecordedRequest.Kind
    let format: NotificationFormat
    /// The tags header as received.
    let tags: String?
    /// Nil: all registrations, or a direct send.
    let expression: TagExpression?
    /// The handles of a direct or batch send.
    private(set) var handles: [String]
    private(set) var body: [UInt8] = []
    private(set) var headers: HTTPFields
    let call: HubCall
    let receivedAt = Timestamp.now
    /// The time of a scheduled send; nil: now.
    private(set) var dueAt: Timestamp?

    /// Reads `POST /{hub}/messages`: a plain, direct or debug send.
    ///
    /// - Throws: 400 with the reason, 413.
    init(_ request: Request, call: HubCall) async throws {
        let isDirect = call.query.isOn("direct")
        let handle = isDirect ? request.headers[HubHeaders.deviceHandle] : nil
        guard !isDirect || handle?.isEmpty == false else {
            throw HubError.badRequest("A direct send needs the ServiceBusNotification-DeviceHandle header.")
        }
        if let handle { _ = try InstallationText.checkedHandle(handle, "handle") }
        let kind: RecordedRequest.Kind = isDirect ? .direct : call.query.isOn("test") ? .test : .send
        try self.init(kind, request, call, handles: handle.map { [$0] } ?? [])
        try await readBody(of: request)
    }

    /// Reads `POST /{hub}/schedulednotifications`.
    ///
    /// - Throws: 400 with the reason, 413.
    init(scheduling request: Request, call: HubCall) async throws {
        guard let time = request.headers[HubHeaders.scheduleTime].flatMap(Timestamp.init(scheduleHeader:)) else {
            throw HubError.badRequest("The ServiceBusNotification-ScheduleTime header is missing or not a time.")
        }
        guard time <= .now + Self.scheduleHorizon else {
            throw HubError.badRequest("A notification can be scheduled for at most 7 days ahead.")
        }
        try self.init(.scheduled, request, call)
        try await readBody(of: request)
        dueAt = time
    }

    /// Reads `POST /{hub}/messages/$batch`: the part `notification` is the native body, and the part `devices` is a
    /// JSON array of handles.
    ///
    /// - Throws: 400 with the reason, 413.
    init(batch request: Request, call: HubCall) async throws {
        guard call.query.isOn("direct") else {
            throw HubError.badRequest("A batch needs the direct parameter in the query.")
        }
        try self.init(.batch, request, call)
        let parts = try MultipartReader.parts(
            of: try await request.bytes(upTo: Self.maxBatchSize), contentType: request.headers[.contentType])
        guard let notification = Self.part("notification", in: parts, at: 0),
            let devices = Self.part("devices", in: parts, at: 1)
        else { throw HubError.badRequest("A batch needs the parts notification and devices.") }
        guard notification.body.count <= Self.maxBodySize else { throw HubError.bodyTooLarge }
        handles = try Self.handles(in: devices.body)
        body = Array(notification.body)
        // The device gets the notification's own content type and not the multipart's.
        headers[.contentType] = notification.headers["content-type"]
        try PlatformRules.checkRaw(format, headers)
    }

    /// Reads the target of the send from the headers, before the body.
    private init(
        _ kind: RecordedRequest.Kind, _ request: Request, _ call: HubCall, handles: [String] = []
    ) throws(HubError) {
        guard let format = request.headers[HubHeaders.format].flatMap(NotificationFormat.init(header:)) else {
            throw HubError.badRequest("The ServiceBusNotification-Format header is missing or unknown.")
        }
        let isToHandles = kind == .direct || kind == .batch
        tags = kind == .batch ? nil : request.headers[HubHeaders.tags]
        expression = isToHandles ? nil : try TagExpression.parse(tags)
        guard !isToHandles || format != .template else {
            throw HubError.badRequest("A direct send needs the format of a platform, not template.")
        }
        self.kind = kind
        self.format = format
        self.handles = handles
        headers = request.headers
        self.call = call
    }

    private mutating func readBody(of request: Request) async throws {
        body = try await request.bytes(upTo: Self.maxBodySize)
        try PlatformRules.checkRaw(format, headers)
        if format == .template { _ = try TemplateProperties(message: body) }
    }

    /// A part by its name, or by its place when no part has a name.
    private static func part(_ name: String, in parts: [MultipartPart], at index: Int) -> MultipartPart? {
        parts.first { $0.name?.lowercased() == name }
            ?? (parts.count == 2 && parts.allSatisfy { $0.name == nil } ? parts[index] : nil)
    }

    private static func handles(in json: ArraySlice<UInt8>) throws(HubError) -> [String] {
        guard let elements = (try? JSONValue(Array(json)))?.elements, elements.allSatisfy({ $0.text != nil }) else {
            throw HubError.badRequest("The part devices must be a JSON array of handles.")
        }
        let handles = elements.compactMap(\.text)
        guard (1...maxHandles).contains(handles.count), !handles.contains("") else {
            throw HubError.badRequest("A batch takes 1 to \(maxHandles) handles, none of them empty.")
        }
        // Those that no device has may be in the feedback, which is XML.
        return try handles.map { handle throws(HubError) in try InstallationText.checkedHandle(handle, "handle") }
    }

    /// Its operation, by which faults select requests.
    var operation: Fault.Operation {
        switch kind {
        case .direct: .direct
        case .batch: .batch
        case .scheduled: .schedule
        default: .send
        }
    }

    /// Its record.
    func record(effect: FaultEffect) -> RecordedRequest {
        var record = RecordedRequest(
            id: HubMessageID.make(at: receivedAt, isSchedule: dueAt != nil), kind: kind, hub: call.hub, format: format,
            tags: tags, headers: headers, body: body, receivedAt: receivedAt)
        record.dueAt = dueAt
        if !effect.faultIDs.isEmpty { record.note(effect) }
        return record
    }
}

extension Timestamp {
    /// Reads the time of a scheduled send.
    ///
    /// Clients write `2026-01-31T10:00:00` (.NET, Java, Go), `2026-01-31T10:00:00.000Z` (JavaScript) or
    /// `2026-01-31'T'10:00:00` (Python sample); a blank may replace the `T`. Without a zone the time is in UTC.
    init?(scheduleHeader header: String) {
        var text = header.drop { $0 == " " }.replacing("'T'", with: "T", maxReplacements: 1)
        while text.last == " " { text.removeLast() }
        text.replace(" ", with: "T", maxReplacements: 1)
        guard let time = Timestamp(iso8601: String(text)), Timestamp.supported.contains(time) else { return nil }
        self = time
    }
}
