import NIOCore
import ServiceLifecycle
import ServiceRuntime

extension FaultTable {
    /// Lets the faults happen to a request whose work is not done yet; `Accept` is for sends, which do it in two steps.
    ///
    /// - Throws: the hub's error, or once the connection is closed a problem that nobody will read.
    func inject(_ effect: FaultEffect, context: EmulatorContext) async throws {
        try await delay(effect)
        try await answer(effect, context: context)
    }

    /// The delays, which end early when the service drains.
    func delay(_ effect: FaultEffect) async throws {
        guard effect.latencyMilliseconds > 0 else { return }
        try await Self.wait(milliseconds: effect.latencyMilliseconds)
    }

    /// The answer that a fault decides, whether or not the work was done before.
    func answer(_ effect: FaultEffect, context: EmulatorContext) async throws {
        guard let fault = effect.fault else { return }
        switch fault.answer {
        case .usual: return
        case .status: if let error = fault.error { throw error }
        case .silence(let milliseconds):
            try await Self.wait(milliseconds: milliseconds)
            try await cut(context)
        case .reset:
            try await cut(context)
        }
    }

    private func cut(_ context: EmulatorContext) async throws {
        try? await context.channel.close()
        throw Problem.serviceUnavailable("The connection was cut by a fault.")
    }

    private static func wait(milliseconds: Int) async throws {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(milliseconds)) }
    }
}
