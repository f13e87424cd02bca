import Authentication
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import ServiceRuntime

/// The notifications of a user:
///
/// - `GET /api/notifications/{id}` gives a secret to its owner's device.
/// - `GET /api/notifications` lists the inbox, for devices that missed a push.
/// - `POST /api/notifications/read` marks notifications as read without fetching them.
struct NotificationReadController: Sendable {
    let users: UserAuthenticator
    let store: any NotificationReader
    let sealer: PayloadSealer
    let metrics: RetrievalMetrics
    /// Bounds the bytes of pages with payloads that are being written; tests use a smaller budget.
    var budget = RequestBudget()

    /// Whether a page of the inbox marks notifications as read.
    @Sendable static func listMarksAsRead(_ request: Request) -> Bool {
        PercentCoding.decode(request.uri.query ?? "")?.contains("payload") ?? false
    }

    static let notFound = Problem.notFound("There is no such notification.")

    /// The answer to the owner of a notification that was there.
    static func gone(_ state: ReadingState) -> Problem {
        .gone(state.isRevoked ? "The notification was revoked." : "The notification has expired.")
    }

    func authenticate(_ request: Request, _ context: some RequestContext) async throws -> UserName {
        do {
            return try await users.user(of: request, context)
        } catch let error as AuthenticationError {
            if error.code != .unavailable { metrics.unauthorized.increment() }
            throw error
        }
    }
}

extension StoredNotification {
    /// The ID, and the trace of the sender's request.
    var logMetadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["notification_id": "\(id)"]
        if let trace = traceparent.flatMap({ TraceContext(traceparent: $0) }) {
            metadata[TraceContext.LogKey.traceID] = "\(trace.traceID)"
            metadata[TraceContext.LogKey.spanID] = "\(trace.spanID)"
        }
        return metadata
    }
}

/// Counts reads by result, and measures the time from a notification's creation to its first read.
struct RetrievalMetrics: Sendable {
    let ok: Counter
    let notFound: Counter
    let gone: Counter
    let unauthorized: Counter
    let inboxRequests: Counter
    private let timeToFetch: Timer

    init(_ metrics: PrometheusMetrics) {
        ok = Metric.retrievals.counter("ok", in: metrics)
        notFound = Metric.retrievals.counter("not_found", in: metrics)
        gone = Metric.retrievals.counter("gone", in: metrics)
        unauthorized = Metric.retrievals.counter("unauthorized", in: metrics)
        inboxRequests = Metric.inboxRequests.counter(in: metrics)
        timeToFetch = Metric.timeToFetch.timer(in: metrics)
    }

    /// Records the first read. If the clock went backwards, the time is zero.
    func firstRead(createdAt: Timestamp, at time: Timestamp) {
        timeToFetch.recordMilliseconds(max(0, (time - createdAt).milliseconds))
    }
}
