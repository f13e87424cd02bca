import HTTPTypes
import Hummingbird
import ServiceRuntime

/// `/emulator/messages` and `/emulator/events`: everything that crossed the hub, kept and live.
struct RecordController: Sendable {
    let log: RecordLog
    let devices: DeviceRegistry
    let feed: EventFeed

    func addRoutes(to emulator: RouterGroup<EmulatorContext>) {
        emulator.get("messages", use: list)
        emulator.delete("messages") { _, _ in
            devices.clear()
            log.removeAll()
            return Response(status: .noContent)
        }
        emulator.get("events") { request, context in
            guard feed.hasRoom else {
                throw Problem.serviceUnavailable("\(EventFeed.maxListeners) readers of the feed are connected.")
            }
            return EventStreamResponse.make(for: request, on: context.channel) { feed.listen() }
        }
    }

    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let query = HubQuery(request.uri.query)
        var limit: Int?
        if let text = query["limit"] {
            guard let number = Int(text), number >= 0 else {
                throw Problem.unprocessable(
                    errors: [Problem.Member(pointer: "/Limit", detail: "must be a whole number from 0")])
            }
            limit = number
        }
        return try EmulatorJSON.response(log.records(after: query["after"], limit: limit))
    }
}
