import HTTPTypes
import Hummingbird
import ServiceRuntime

/// `/emulator/faults`: what goes wrong on purpose.
struct FaultController: Sendable {
    private static let maximumBodySize = 16 * 1024

    let faults: FaultTable
    let feed: EventFeed

    func addRoutes(to emulator: RouterGroup<EmulatorContext>) {
        emulator.get("faults") { _, _ in try EmulatorJSON.response(faults.all) }
        emulator.post("faults", use: add)
        emulator.delete("faults") { _, _ in
            faults.removeAll()
            return try answer()
        }
        emulator.delete("faults/:id", use: remove)
    }

    @Sendable func add(_ request: Request, context: EmulatorContext) async throws -> Response {
        faults.add(try Fault(try await request.body.collect(upTo: Self.maximumBodySize)))
        return try answer(status: .created)
    }

    @Sendable func remove(_ request: Request, context: EmulatorContext) async throws -> Response {
        guard let id = context.parameters.get("id").flatMap({ Int($0) }), faults.remove(id: id) else {
            throw Problem.notFound("There is no fault of this ID. GET /emulator/faults lists them.")
        }
        return try answer()
    }

    /// Every change is answered with all faults, and told to the page.
    private func answer(status: HTTPResponse.Status = .ok) throws -> Response {
        feed.publish(.faults, faults.all)
        return try EmulatorJSON.response(faults.all, status: status)
    }
}
