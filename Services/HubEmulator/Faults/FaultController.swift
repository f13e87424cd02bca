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
            feed.publish(.faults, faults.all)
            return try EmulatorJSON.response(faults.all)
        }
    }

    @Sendable func add(_ request: Request, context: EmulatorContext) async throws -> Response {
        var members = try JSONMembers(try await request.body.collect(upTo: Self.maximumBodySize))
        var fault = Fault()
        fault.platform = members.choice("Platform", NotificationFormat.self)
        fault.operation = members.choice("Operation", Fault.Operation.self)
        fault.status = members.integer("Status", in: 400...599)
        fault.rate = members.number("Rate", in: 0...1) ?? 1
        fault.latencyMilliseconds = members.integer("LatencyMs", in: 0...600_000) ?? 0
        fault.retryAfter = members.integer("RetryAfter", in: 0...86_400)
        fault.count = members.integer("Count", in: 1...1_000_000_000)
        fault.reset = members.boolean("Reset") ?? false
        try members.finish()
        guard fault.status != nil || fault.latencyMilliseconds > 0 || fault.reset else {
            throw Problem.unprocessable(
                errors: [Problem.Member(pointer: "/Status", detail: "or LatencyMs or Reset is needed")])
        }
        faults.add(fault)
        feed.publish(.faults, faults.all)
        return try EmulatorJSON.response(faults.all, status: .created)
    }
}
