import HTTPTypes
import Hummingbird
import NIOCore

/// `POST /{hub}/messages`: takes a notification and hands it to the simulated devices.
struct SendController: Sendable {
    /// The hub's limit for a request.
    static let maximumBodySize = 64 * 1024

    let gate: HubGate
    let hubs: HubDirectory
    let devices: DeviceRegistry
    let log: RecordLog
    let faults: FaultTable

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.post("messages", use: send)
    }

    @Sendable func send(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .send)
        guard let format = request.headers[HubHeaders.format].flatMap(NotificationFormat.init(header:)) else {
            throw HubError.badRequest("The ServiceBusNotification-Format header is missing or not known.")
        }
        let isDirect = call.query.isOn("direct")
        let handle = isDirect ? request.headers[HubHeaders.deviceHandle] : nil
        guard !isDirect || handle?.isEmpty == false else {
            throw HubError.badRequest("A direct send needs the ServiceBusNotification-DeviceHandle header.")
        }
        let tags = request.headers[HubHeaders.tags]
        let expression = try isDirect ? nil : TagExpression.parse(tags)
        let body = try await request.body.collect(upTo: Self.maximumBodySize)
        let now = WireTime.now
        let record = CrossingRecord(
            id: HubMessageID.make(at: now), kind: isDirect ? .direct : .send, hub: call.hub, format: format, tags: tags,
            headers: request.headers, body: Array(body.readableBytesView), receivedAt: now)
        try await cross(record, to: handle, call: call, expression: expression, context: context)
        return Self.accepted(record.id, call: call, isDirect: isDirect)
    }

    /// Lets faults happen, delivers, and writes the record either way.
    private func cross(
        _ record: CrossingRecord, to handle: String?, call: HubCall, expression: TagExpression?,
        context: EmulatorContext
    ) async throws {
        var record = record
        let effect = faults.effect(on: .send, platform: record.format)
        if let fault = effect.fault {
            record.outcome = .faulted
            record.fault = fault.words
            log.append(record)
        }
        try await faults.inject(effect, context: context)
        guard let format = record.format else { return }
        let targets =
            handle.map { [DeliveryTarget(handle: $0, format: format, body: record.body)] }
            ?? DeliveryTarget.all(
                hubs.targets(call.hubKey, format: format, expression: expression), body: record.body)
        record.deliveries = targets.map(\.handle)
        record.outcome = targets.isEmpty ? .noTargetFound : .completed
        log.append(record)
        deliver(record, to: targets)
    }

    private func deliver(_ record: CrossingRecord, to targets: [DeliveryTarget]) {
        guard !targets.isEmpty else { return }
        let headers = PassThroughHeaders.select(from: record.headers)
        let receivedAt = record.receivedAt.rfc3339
        for target in targets {
            let push = DevicePush(
                platform: target.format.rawValue, body: String(decoding: target.body, as: UTF8.self), headers: headers,
                messageID: record.id, receivedAt: receivedAt)
            devices.deliver(push, format: target.format, to: target.handle)
        }
    }

    /// Recorded: 201, an empty body with a content type, and the location.
    private static func accepted(_ id: String, call: HubCall, isDirect: Bool) -> Response {
        Response(
            status: .created,
            headers: [
                .contentType: HubHeaders.xmlContentType,
                .location: call.location("messages/\(id)", suffix: isDirect ? "&direct" : ""),
            ])
    }
}
