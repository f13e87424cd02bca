extension Fault {
    /// What a request does, as far as faults tell requests apart.
    enum Operation: String, CaseIterable, Sendable {
        /// Every kind of send, or a plain one where a request is meant.
        case send
        case direct, batch, schedule, cancel
        case register
        case installation, hub, telemetry

        /// Reads a fault's member; the long name is taken too.
        init?(member: String) {
            let name = member.lowercased()
            guard let operation = Self(rawValue: name == "registration" ? "register" : name) else { return nil }
            self = operation
        }

        /// Whether a fault for this operation is for a request that does the other.
        func covers(_ other: Operation) -> Bool {
            self == other || (self == .send && [.direct, .batch, .schedule].contains(other))
        }
    }
}
