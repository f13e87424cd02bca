import Foundations
import PushServices

/// The circuits of a lane. The lane of browsers has one for each origin, because each browser maker and each UnifiedPush
/// server is a push service of its own; the others have one. A value without I/O and without a clock.
struct LaneCircuits: Sendable {
    /// Further origins are pushed to without a circuit.
    static let maxOrigins = 1000

    /// Whether the lane has several push services.
    let isShared: Bool
    /// By origin; by the empty text in a lane with one push service.
    private var circuits: [String: PushCircuit] = [:]
    /// How many circuits are open because the credentials are refused.
    private var refusals = 0

    init(isShared: Bool) {
        self.isShared = isShared
    }

    mutating func admit(_ address: PushAddress, now: PushCircuit.Instant) -> PushCircuit.Admission {
        circuits[origin(of: address)]?.admit(address.hashValue, now: now) ?? .push
    }

    mutating func observe(_ answer: PushAnswer, of address: PushAddress, isProbe: Bool, now: PushCircuit.Instant) {
        let origin = origin(of: address)
        if circuits[origin] == nil { makeRoom() }
        guard circuits[origin] != nil || circuits.count < Self.maxOrigins else { return }
        var circuit = circuits[origin] ?? PushCircuit(areDevicesBound: isShared)
        let wasRefused = circuit.pause?.cause == .credentials
        circuit.observe(answer, of: address.hashValue, isProbe: isProbe, now: now)
        let isRefused = circuit.pause?.cause == .credentials
        refusals += (isRefused ? 1 : 0) - (wasRefused ? 1 : 0)
        circuits[origin] = circuit
    }

    /// Forgets the push services that are not in trouble, when there are too many.
    private mutating func makeRoom() {
        if circuits.count >= Self.maxOrigins { circuits = circuits.filter { $0.value.pause != nil } }
    }

    /// The pause of the whole lane; with several push services each has its own.
    var pause: PushCircuit.Pause? { isShared ? nil : circuits[""]?.pause }

    /// Whether the whole lane waits for the answer to a probe.
    var isHalfOpen: Bool {
        if !isShared, case .halfOpen = circuits[""]?.state { return true }
        return false
    }

    /// With several push services, one that throttles or fails does not change the state of the lane: it may be the
    /// private server of one user.
    var state: LaneReport.State {
        if refusals > 0 { return .paused }
        return pause == nil ? .open : .held
    }

    /// The scheme and authority of an endpoint.
    private func origin(of address: PushAddress) -> String {
        guard isShared, case .subscription(let endpoint, _, _) = address else { return "" }
        let bytes = endpoint.utf8
        var slashes = 0
        let end = bytes.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3
        }
        return String(endpoint[..<(end ?? bytes.endIndex)]).lowercased()
    }
}
