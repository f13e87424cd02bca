import HTTPTypes
import Hummingbird
import ServiceRuntime

/// `/emulator/devices`: the simulated devices, seen from their side.
struct DeviceController: Sendable {
    private static let maximumBodySize = 256 * 1024

    let devices: DeviceRegistry

    func addRoutes(to emulator: RouterGroup<EmulatorContext>) {
        emulator.get("devices") { _, _ in try EmulatorJSON.response(devices.summaries) }
        emulator.get("devices/:handle/stream", use: stream)
        emulator.post("devices/:handle/display", use: display)
    }

    /// What the device receives, from now on; the newest push that waited comes first.
    @Sendable func stream(_ request: Request, context: EmulatorContext) async throws -> Response {
        let handle = try Self.handle(context)
        guard devices.hasRoomForStream else {
            throw Problem.serviceUnavailable("\(DeviceRegistry.maxStreams) device streams are open.")
        }
        return EventStreamResponse.make(for: request, on: context.channel) { devices.connect(handle) }
    }

    /// What the device says that it shows.
    @Sendable func display(_ request: Request, context: EmulatorContext) async throws -> Response {
        var members = try JSONMembers(try await request.body.collect(upTo: Self.maximumBodySize))
        let id = members.string("Id")
        let text = members.string("Text")
        let kind = members.choice("Kind", DeviceDisplay.Kind.self)
        if text == nil { let _: String? = members.refuse("Text", "is needed") }
        try members.finish()
        devices.display(
            DeviceDisplay(
                handle: try Self.handle(context), id: id, text: text ?? "", kind: kind ?? .payload,
                shownAt: WireTime.now.rfc3339))
        return Response(status: .noContent)
    }

    /// Handles may hold slashes (Windows channels are URLs), so they come percent-encoded.
    private static func handle(_ context: EmulatorContext) throws(Problem) -> String {
        let handle = PercentDecoding.decode(context.parameters.get("handle") ?? "")
        guard handle.utf8.count <= Device.maxHandleBytes else {
            throw Problem.badRequest("The handle is longer than \(Device.maxHandleBytes) bytes.")
        }
        return handle
    }
}
