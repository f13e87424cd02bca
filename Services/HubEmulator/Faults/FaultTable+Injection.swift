import NIOCore
import ServiceRuntime

extension FaultTable {
    /// Lets the faults happen to a request.
    ///
    /// - Throws: the hub's error, or once the connection is closed a problem that nobody will read.
    func inject(_ effect: Effect, context: EmulatorContext) async throws {
        if effect.latencyMilliseconds > 0 { try await Task.sleep(for: .milliseconds(effect.latencyMilliseconds)) }
        guard let fault = effect.fault else { return }
        if fault.reset {
            try? await context.channel.close()
            throw Problem.serviceUnavailable("The connection was cut by a fault.")
        }
        if let error = fault.error { throw error }
    }
}

extension Fault {
    /// In a few words, for the record.
    var words: String {
        if reset { return "connection cut" }
        return (status.map(String.init) ?? "delay") + (retryAfter.map { ", Retry-After \($0)" } ?? "")
    }
}
