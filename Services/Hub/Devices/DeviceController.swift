import Foundations
import HTTPTypes
import Hummingbird
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
        devices.display(try body.readJSON(.object { DeviceDisplay(&$0, handle: handle) }))
        return Response(status: .noContent)
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

extension DeviceDisplay {
    /// Reads the body of `POST /emulator/devices/{handle}/display`.
    fileprivate init(_ json: inout JSONObjectReader, handle: String) {
        self.init(
            handle: handle, id: json.optional("Id", .text), text: json.required("Text", .text) ?? "",
            kind: json.optional("Kind", .choiceIgnoringCase) ?? .payload, shownAt: Timestamp.now.description)
    }
}
