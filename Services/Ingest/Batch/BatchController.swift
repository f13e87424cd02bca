import Foundations
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceRuntime

/// `POST /api/notifications/batch`: accepts many notifications, one JSON text per line (NDJSON), and streams a result
/// for each.
struct BatchController: Sendable {
    let authentication: SenderAuthentication
    let acceptor: NotificationAcceptor
    private let problem = LastingProblemLog(
        "Batch lines could not be stored", end: "Batch lines are stored again")

    /// Its body is a stream: the time between two lines is bounded here, not that of the whole body.
    static let path: RouterPath = "/api/notifications/batch"

    /// Responds 200 before it has read a line; each line has its own result in the body.
    @Sendable func accept(_ request: Request, context: some RequestContext) async throws -> Response {
        guard case .sender(let sender) = try await authentication.caller(of: request, context: context) else {
            throw Problem.forbidden("Users may not send batches, only a confirmation to themselves.")
        }
        let key = try IdempotencyKeyHeader.value(in: request.headers)
        guard MediaType.isNDJSON(request.headers[.contentType]) else {
            throw Problem.unsupportedMediaType("The body must be application/x-ndjson in UTF-8.")
        }
        let reservation = acceptor.budget.reservation(ofBatchBy: sender)
        let reader = BatchReader(acceptor: acceptor, keepsText: key != nil, reservation: reservation)
        let storer = BatchStorer(
            acceptor: acceptor, reservation: reservation,
            origin: RequestOrigin(sender: sender, traceparent: request.headers.traceContext?.traceparent), key: key,
            // `context.id` traps where a log handler keeps no metadata.
            requestID: context.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? "none", logger: context.logger,
            problem: problem)
        let body = request.body
        return Response(
            status: .ok, headers: [.contentType: "application/x-ndjson"],
            body: ResponseBody { writer in
                defer { reservation.release() }
                try await Self.stream(body, through: reader, storer, reservation, to: &writer)
                try await writer.finish(nil)
            })
    }

    /// Three stages at the same time: reading lines, storing groups of them, writing the results.
    private static func stream(
        _ body: RequestBody, through reader: BatchReader, _ storer: BatchStorer,
        _ reservation: RequestBudget.Reservation,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        let lines = BatchPipe<BatchLine>(limit: BatchLimit.maxGroupBytes)
        let results = BatchPipe<[UInt8]>(limit: BatchLimit.maxWaitingResultBytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await reader.run(body, into: lines) }
            group.addTask { await storer.run(lines, into: results) }
            // If the client is gone, writing throws, which cancels the other stages.
            while let texts = await results.receive() {
                for part in texts.lazy.flatMap(Self.parts) {
                    try await writer.write(part)
                    reservation.release(part.readableBytes)
                }
            }
        }
        // A response that was cut off must not look complete.
        try Task.checkCancellation()
    }

    /// The parts in which results are written; each waits for the connection. As one part they would wait in the
    /// connection, which is closed if its client does not read so much for some seconds.
    static func parts(of text: [UInt8]) -> [ByteBuffer] {
        stride(from: 0, to: text.count, by: BatchLimit.maxWrittenBytes).map { start in
            ByteBuffer(bytes: text[start..<min(start + BatchLimit.maxWrittenBytes, text.count)])
        }
    }
}

/// A line of a batch, read and not yet stored.
struct BatchLine: Sendable {
    enum Content: Sendable {
        case request(CreateNotificationRequest)
        /// Why the line is refused.
        case refused(Problem)
        /// The line was not read, so no earlier batch can have accepted it: its key is not looked up.
        case unread(Problem)
    }

    /// From 1; lines of white space are not counted.
    let number: Int
    let readAt: Timestamp
    /// The line itself if the batch has an `Idempotency-Key`, otherwise empty.
    let text: [UInt8]
    let content: Content

    /// The approximate bytes that the line holds here and will hold in a transaction: its text; the payload per
    /// recipient and its rows; the errors of a refused line.
    var weight: Int {
        switch content {
        case .request(let request):
            (request.payload.count + Self.overhead) * max(request.recipients.count, 1) + text.count
        case .refused(let problem), .unread(let problem):
            problem.errors.reduce(Self.overhead + text.count) { $0 + $1.pointer.utf8.count + $1.detail.utf8.count + 64 }
        }
    }

    /// The approximate bytes that the store gets.
    var storedBytes: Int {
        guard case .request(let request) = content else { return 0 }
        return request.storedBytes
    }

    /// Limits a group to 256 lines, even of the smallest size.
    static let overhead = BatchLimit.maxGroupBytes / 256
}

/// The limits of a batch; see docs/reference/http-api.md.
enum BatchLimit {
    static let maxLines = 10_000
    /// The limit for the body of a single request.
    static let maxLineBytes = CreateNotificationRequest.Limit.maxBodyBytes
    /// The bytes of lines that are stored together.
    static let maxGroupBytes = 1024 * 1024
    /// Results that may wait for a client that does not read. Many clients write everything before they read anything.
    /// If this were less than the results of 10,000 lines, refused ones too, both sides would wait for each other until
    /// the connection is closed. Only lines with many recipients have longer results. It is half of a sender's part.
    static let maxWaitingResultBytes = 24 * 1024 * 1024
    /// The bytes of results that are written at once.
    static let maxWrittenBytes = 16 * 1024
    /// The bytes of `errors` in the result of a refused line: with the rest of it, 10,000 fit into
    /// ``maxWaitingResultBytes``.
    static let maxErrorBytes = 700
    /// How long a batch waits for its part of the budget.
    static let budgetPatience = Duration.seconds(5)
    /// How long a batch may go on without a line. White space is no line.
    static let maxIdle = Duration.seconds(60)
    /// How long a batch may go on after the service is told to stop.
    static let drainDuration = Duration.seconds(5)
}
