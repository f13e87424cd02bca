/// One change of what is kept over a restart.
struct StateChange: Sendable {
    enum Kind: String, Sendable {
        case hub, registration, installation, schedule
    }

    let kind: Kind
    /// The hub's name in lower case.
    let hub: String
    let key: String
    /// Nil: it is gone.
    let value: [UInt8]?
}
