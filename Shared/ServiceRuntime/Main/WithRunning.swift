package import Logging
package import ServiceLifecycle

/// Runs services beside a closure, for a tool that needs a store or a broker connection for one task.
///
/// When the closure returns or throws, the services shut down gracefully, in the reverse order of the list. After five
/// seconds they are cancelled. The function returns once all services have ended.
///
/// Services connect on their own. A closure that needs the connection waits for it first:
///
/// ```swift
/// try await withRunning(opened.service, publisher) {
///     try await waitUntilReady(opened.store)
///     return try await replay(from: opened.store, to: publisher)
/// }
/// ```
///
/// - Parameters:
///   - services: those that others depend on first.
///   - logger: receives the debug messages of the service group; discards them by default.
///   - body: cancelled when a service ends before it does, or when the calling task is cancelled.
/// - Returns: the closure's value. Errors of services that are shutting down are ignored.
/// - Throws: the closure's error. If a service ended first, that service's error, or
///   `ServiceGroupError.serviceFinishedUnexpectedly` if it had none.
package func withRunning<Value: Sendable>(
    _ services: any Service..., logger: Logger = Logger(label: "withRunning") { _ in SwiftLogNoOpLogHandler() },
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    var configuration = ServiceGroupConfiguration(
        services: services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }, logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(5)
    let group = ServiceGroup(configuration: configuration)
    return try await withTaskGroup(of: Ended<Value>.self, returning: Result<Value, any Error>.self) { tasks in
        tasks.addTask {
            do { try await group.run() } catch { return .services(error) }
            return .services(CancellationError())
        }
        tasks.addTask {
            do { return .body(.success(try await body())) } catch { return .body(.failure(error)) }
        }
        var cause: (any Error)?
        while let ended = await tasks.next() {
            switch ended {
            case .services(let error):
                cause = error
                tasks.cancelAll()
            case .body(let result):
                await group.triggerGracefulShutdown()
                await tasks.waitForAll()
                // A closure that was cancelled because of a service fails for the reason of that service.
                if case .failure = result, let cause { return .failure(cause) }
                return result
            }
        }
        return .failure(cause ?? CancellationError())
    }.get()
}

/// One of the two tasks of ``withRunning(_:logger:_:)`` is over.
private enum Ended<Value: Sendable>: Sendable {
    case services(any Error)
    case body(Result<Value, any Error>)
}
