import ChaosChecker

/// A request that arrived at the last part of the run that the services do not control.
struct Crossing: Sendable {
    /// From 1, without gaps.
    let sequence: Int
    let platform: String
    /// In milliseconds since the Unix epoch.
    let time: Int64
    /// The body in clear text.
    let body: String
    let accepted: Bool
    /// The answer; `nil` if the sender got none.
    let status: Int?
    let fault: String?
    /// The handles of the devices that it reached.
    let handles: [String]
    /// What a withdrawal must name again: the platform, or the device if each has a push of its own.
    let audience: String
}

/// Where pushes end, outside of the services: it has them on record, and it answers badly if it is told to.
///
/// With the hub emulator it is the emulator itself, with hubs of one's own the push services behind them.
protocol PushBackend: Sendable {
    /// Its faults from the first push to the last, for the history.
    var faults: String { get }
    /// The place whose records are searched for payloads.
    var place: String { get }

    /// The requests after a sequence number, in their order, at most ``PushPage/limit``.
    func page(after sequence: Int) async throws -> PushPage
    func beginFaults() async throws
    func endFaults() async throws
    /// Every push is answered 429 with `Retry-After: 2`.
    ///
    /// - Parameter milliseconds: how long.
    func beginStorm(_ milliseconds: Int) async throws
    func endStorm() async throws
    /// No push is accepted or answered.
    func beginSilence() async throws
    func endSilence() async throws
}

/// A part of a backend's records.
struct PushPage: Sendable {
    static let limit = 500

    /// Requests that have nothing to do with pushes are only counted.
    var crossings: [Crossing] = []
    /// The sequence number of the last record; `nil` without any.
    var last: Int?
    /// How many records there are in it.
    var count = 0
    /// How many records before it are missing.
    var missing = 0
    /// How many more requests have been left without an answer, since the last page.
    var unanswered = 0
    /// What is searched for payloads.
    var bytes: [UInt8] = []

    var isFull: Bool { count >= Self.limit }
}
