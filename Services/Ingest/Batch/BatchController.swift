import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SecurePushCore
import ServiceRuntime

/// `POST /api/notifications/batch`: takes many notifications, a JSON text a line (NDJSON), and answers as it goes.
struct BatchController: Sendable {
    let caller: CallerAuthentication
    let intake: NotificationIntake
    private let problem = LastingProblemLog(
        "Lines of batches were not stored.", end: "Lines of batches are stored again.")

    init(caller: CallerAuthentication, intake: NotificationIntake) {
        self.caller = caller
        self.intake = intake
    }

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        router.post("/api/notifications/batch", use: accept)
    }

    /// Answers 200 before it has read a line; what becomes of each is in its result.
    @Sendable func accept(_ request: Request, context: some RequestContext) async throws -> Response {
        let caller = try await caller.authenticate(request.headers[.authorization], from: context.clientAddress)
        guard case .sender(let sender) = caller else {
            throw Problem.forbidden("A user may only send a confirmation to itself, and in no batch.")
        }
        let key = try IdempotencyKeyHeader.value(in: request.headers)
        guard MediaType.isNDJSON(request.headers[.contentType]) else {
            throw Problem.unsupportedMediaType("The body must be application/x-ndjson in UTF-8.")
        }
        let share = intake.budget.share()
        try share.add(BatchLimit.heldBytes)
        let reader = BatchReader(intake: intake, keepsText: key != nil)
        let storer = BatchStorer(
            intake: intake,
            origin: RequestOrigin(sender: sender, traceparent: request.headers.traceContext?.traceparent), key: key,
            // `context.id` traps where a log handler keeps no metadata.
            requestID: context.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? "none", logger: context.logger,
            problem: problem)
        let body = request.body
        return Response(
            status: .ok, headers: [.contentType: "application/x-ndjson"],
            body: ResponseBody { writer in
                defer { share.release() }
                try await Self.stream(body, through: reader, storer, to: &writer)
                try await writer.finish(nil)
            })
    }

    /// Three stages at the same time: reading lines, storing groups of them, writing the results.
    private static func stream(
        _ body: RequestBody, through reader: BatchReader, _ storer: BatchStorer, to writer: inout any ResponseBodyWriter
    ) async throws {
        let lines = BatchPipe<BatchLine>(limit: BatchLimit.groupBytes)
        let results = BatchPipe<[UInt8]>(limit: BatchLimit.waitingResultBytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await reader.run(body, into: lines) }
            group.addTask { await storer.run(lines, into: results) }
            // Where the client is gone, writing throws, which cancels the other stages.
            while let texts = await results.receive() {
                for text in texts { try await writer.write(ByteBuffer(bytes: text)) }
            }
        }
        // An answer that was cut off must not look complete.
        try Task.checkCancellation()
    }
}
