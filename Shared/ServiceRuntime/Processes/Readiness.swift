import Foundations

/// What `/readyz` of a process says, or why it says nothing.
package struct Readiness: Sendable, Equatable {
    package enum State: String, Encodable, Sendable {
        case ready, unready, unreachable
    }

    package var state: State
    /// The parts that are down, sorted; why the process does not answer if it is unreachable.
    package var down: [String]
    /// The parts that are up, sorted.
    package var up: [String] = []
    /// Why parts are down, by name.
    package var reasons: [String: String] = [:]
    /// Ingest: notifications in the outbox.
    package var pending: Int?
    /// Hub: the simulated platforms, as `HUB/PLATFORM`, sorted.
    package var simulated: [String] = []
    /// Hub: the pushes in flight, by `HUB/PLATFORM`.
    package var inFlight: [String: Int] = [:]

    package init(state: State, down: [String]) {
        self.state = state
        self.down = down
    }

    package static func unreachable(_ reason: String) -> Readiness { Readiness(state: .unreachable, down: [reason]) }

    /// Reads an answer of `/readyz`.
    package init(status: Int, body: String) {
        let report = JSONValue(text: body)
        let parts = report?["checks"]?.members ?? []
        let isReady = report?["status"]?.text.map { $0 == "ready" } ?? (200..<300).contains(status)
        state = isReady ? .ready : .unready
        down = parts.filter { $0.value.text != "up" }.map(\.name).sorted()
        up = parts.filter { $0.value.text == "up" }.map(\.name).sorted()
        for part in report?["reasons"]?.members ?? [] { reasons[part.name] = part.value.text }
        simulated = (report?["simulated"]?.members ?? []).map(\.name).sorted()
        for lane in report?["in_flight"]?.members ?? [] {
            inFlight[lane.name] = lane.value.number.flatMap { Int(exactly: $0) }
        }
        pending = (report?["outbox"]?["pending"]?.number).flatMap { Int(exactly: $0) }
    }
}
