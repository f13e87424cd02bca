import NIOCore
import ServiceLifecycle
import ServiceRuntime

/// The effect of all faults on one request.
struct FaultEffect: Equatable, Sendable {
    var latencyMilliseconds = 0
    /// The fault that decides the response.
    private(set) var fault: Fault?
    /// The outcome of the notification instead of a delivery.
    private(set) var fate: Fate?
    /// The IDs of all faults that hit the request.
    private(set) var faultIDs: [Int] = []

    enum Fate: Equatable, Sendable {
        case swallowed
        case outcome(DeliveryOutcome)
    }

    static let none = FaultEffect()

    /// Whether the request is refused, cut or left without a response before the hub accepts it.
    var refuses: Bool { fault.map { !$0.isAccepted } ?? false }

    mutating func add(_ fault: Fault) {
        faultIDs.append(fault.id)
        latencyMilliseconds += fault.latencyMilliseconds
        if fault.decidesAnswer { self.fault = fault }
        if let outcome = fault.outcome { fate = .outcome(outcome) } else if fault.isSwallowed { fate = .swallowed }
    }

    /// The effect in a few words; nil for none.
    var words: String? {
        var words: [String] = []
        if latencyMilliseconds > 0 { words.append("delay \(latencyMilliseconds) ms") }
        switch fate {
        case .swallowed: words.append("swallowed")
        case .outcome(let outcome): words.append(outcome.rawValue)
        case nil: break
        }
        if let fault { words.append(fault.words) }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    // MARK: Injection

    /// Delays a request and gives it the response that the faults decide.
    ///
    /// - Throws: the hub's error; after the connection was closed, a problem that no client reads.
    func inject(_ context: EmulatorContext) async throws {
        try await delay()
        try await answer(context)
    }

    /// Waits for all delays; they end early when the service drains.
    func delay() async throws {
        if latencyMilliseconds > 0 { try await Self.wait(milliseconds: latencyMilliseconds) }
    }

    /// Gives the response that a fault decides.
    ///
    /// - Throws: as ``inject(_:)``.
    func answer(_ context: EmulatorContext) async throws {
        switch fault?.answer {
        case nil, .usual: return
        case .status: if let error = fault?.error { throw error }
        case .silence(let milliseconds):
            try await Self.wait(milliseconds: milliseconds)
            try await cut(context)
        case .reset:
            try await cut(context)
        }
    }

    private func cut(_ context: EmulatorContext) async throws {
        try? await context.channel.close()
        throw Problem.serviceUnavailable("A fault cut the connection.")
    }

    private static func wait(milliseconds: Int) async throws {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(milliseconds)) }
    }
}
