import Foundation

/// Bounds the calls of one part of the platform: the Keychain, the notification centre or a store of the app may not
/// answer.
actor CallLimit {
    /// The call takes too long.
    struct Overdue: Error {}

    private let clock: any ClientClock
    private var isStuck = false

    init(on clock: any ClientClock) {
        self.clock = clock
    }

    /// Makes a call. That the task is cancelled does not end it: what was shown has to be noted.
    ///
    /// - Throws: ``Overdue``, and the errors of the call.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (clock, end) = (clock, clock.uptime + (isStuck ? Self.secondsWhenStuck : Self.seconds))
        let call = Task { try await TimeLimit.run(until: end, on: clock, work) }
        do {
            let value = try await call.value
            isStuck = false
            return value
        } catch TransportError.timedOut {
            isStuck = true
            throw Overdue()
        }
    }

    /// Much longer than any call that works.
    private static let seconds: TimeInterval = 5
    /// After a call that did not end, the next ones have less until one ends: a wake makes many.
    private static let secondsWhenStuck: TimeInterval = 0.1
}
