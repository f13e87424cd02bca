import CoreMetrics
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// The handling that every request of a service has, whichever way it is answered: the log of failures, and metrics.
struct RequestBoundary: Sendable {
    let instruments: HTTPInstruments
    /// Whether each request gets a line at level info (`ACCESS_LOG`).
    let logsAccess: Bool
    /// Never told that the problem has ended: a request that did not need the store says nothing about the store.
    private let storeProblem = LastingProblemLog("The store failed a request", end: "The store serves requests again")

    init(metrics: PrometheusMetrics, logsAccess: Bool) {
        instruments = HTTPInstruments(metrics: metrics)
        self.logsAccess = logsAccess
    }

    /// Logs an error that a request ended with, unless it is an expected one.
    func log(_ error: any Error, to logger: @autoclosure () -> Logger) {
        switch error {
        case is Problem, is any HTTPResponseError, is AuthenticationError, is CancellationError: break
        case is StorageError: storeProblem.failed(Problem.logText(of: error), to: logger())
        case is PayloadError:
            logger().error(
                "A payload could not be sealed or opened",
                metadata: [LogKeys.errorMessage: "\(Problem.logText(of: error))"])
        default:
            logger().error(
                "Request failed unexpectedly", metadata: [LogKeys.errorType: "\(Problem.logText(of: error))"])
        }
    }

    /// Records a response in the metrics and in the log.
    func finish(
        _ method: HTTPRequest.Method, route: String, status: HTTPResponse.Status, elapsed: Duration, logs: Bool,
        logger: @autoclosure () -> Logger
    ) {
        let (seconds, attoseconds) = elapsed.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        instruments.record(route: route, method: method, status: status.code, nanoseconds: nanoseconds)
        guard logs else { return }
        logger().debug(
            "Request answered",
            metadata: [
                "http.request.method": "\(HTTPInstruments.methodLabel(method))", "http.route": "\(route)",
                "http.response.status_code": "\(status.code)", "duration_us": "\(nanoseconds / 1000)",
            ])
    }
}

extension Logger {
    /// This logger with the metadata of a request.
    func of(request id: String, trace: TraceContext?) -> Logger {
        var logger = self
        // Hummingbird's own key: `context.id` reads it, so there is one ID and one entry.
        logger[metadataKey: LogKeys.requestID] = .string(id)
        if let trace {
            logger[metadataKey: TraceContext.LogKey.traceID] = .string(trace.traceID)
            logger[metadataKey: TraceContext.LogKey.spanID] = .string(trace.spanID)
        }
        return logger
    }
}
