import HTTPTypes
import Hummingbird
import SecurePushCore
import ServiceRuntime

/// `/emulator/devices`: the API of the simulated devices.
struct DeviceController: Sendable {
    private static let maxBodySize = 256 * 1024

    let devices: DeviceRegistry

    func addRoutes(to emulator: RouterGroup<EmulatorContext>) {
        emulator.get("devices") { _, _ in JSONValue.array(devices.all.map(\.json)).response() }
        emulator.get("devices/:handle/stream", use: stream)
        emulator.post("devices/:handle/display", use: display)
        emulator.delete("devices/:handle/display/:id") { _, context in
            devices.removeDisplays(of: context.parameter("id"), on: try Self.handle(context))
            return Response(status: .noContent)
        }
    }

    /// A stream of the pushes to the device, beginning with the waiting one.
    @Sendable func stream(_ request: Request, context: EmulatorContext) async throws -> Response {
        let handle = try Self.handle(context)
        guard devices.hasStreamCapacity else {
            throw Problem.serviceUnavailable("The maximum of \(DeviceRegistry.maxStreams) device streams is open.")
        }
        return EventStreamResponse.make(for: request, on: context.channel) { devices.connect(handle) }
    }

    /// Stores the text that the device shows.
    @Sendable func display(_ request: Request, context: EmulatorContext) async throws -> Response {
        let handle = try Self.handle(context)
        let body = try await request.body.collect(upTo: Self.maxBodySize)
        devices.display(try body.readJSON { Self.display(&$0, handle) })
        return Response(status: .noContent)
    }

    private static func display(_ reader: inout JSONObjectReader, _ handle: String) -> DeviceDisplay {
        var id: String?
        var text = ""
        var kind = DeviceDisplay.Kind.payload
        for member in reader.members(of: reader.root, known: ["Id", "Text", "Kind"], required: ["Text"]) {
            switch member.name {
            case "Text": text = reader.string(member.value, at: member.pointer) ?? ""
            case _ where member.value.kind == .null: break
            case "Id": id = reader.string(member.value, at: member.pointer)
            default: kind = reader.choice(member.value, at: member.pointer, ignoringCase: true) ?? kind
            }
        }
        return DeviceDisplay(handle: handle, id: id, text: text, kind: kind, shownAt: Timestamp.now.description)
    }

    /// Handles may contain slashes (Windows channels are URLs), so they are percent-encoded.
    private static func handle(_ context: EmulatorContext) throws(Problem) -> String {
        let handle = context.parameter("handle")
        guard handle.utf8.count <= Device.maxHandleBytes else {
            throw Problem.badRequest("The handle is longer than \(Device.maxHandleBytes) bytes.")
        }
        return handle
    }
}
