import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// `Expect: 100-continue` of one request (RFC 9110, section 10.1.1): the client sends its body after the 100, which is
/// sent when the route first reads the body. So 401, 413 and 415 still come instead of it.
final class BodyExpectation: Sendable {
    private let channel: any Channel
    private let isMet = Mutex(false)

    /// - Returns: `nil` if the request expects nothing.
    init?(of request: Request, _ context: some RequestContext) {
        guard let channel = (context as? any ChannelRequestContext)?.channel,
            request.headers[values: .expect].contains(where: { $0.lowercased() == "100-continue" })
        else { return nil }
        self.channel = channel
    }

    /// Asks the client for the body, the first time.
    func meet() async {
        let isFirst = isMet.withLock { isMet in
            defer { isMet = true }
            return !isMet
        }
        guard isFirst else { return }
        // A connection that has ended cannot be asked, and reading the body then says so.
        try? await channel.eventLoop.submit { [channel] in
            try channel.pipeline.syncOperations.handler(type: RequestHandler.self).askForBody()
        }.get()
    }

    /// The body of a request, which asks for itself when it is read.
    func asking(for body: RequestBody) -> RequestBody {
        RequestBody(asyncSequence: AskingBody(expectation: self, body: body))
    }
}

private struct AskingBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let expectation: BodyExpectation
    let body: RequestBody

    func makeAsyncIterator() -> Iterator { Iterator(expectation: expectation, body: body.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        let expectation: BodyExpectation
        var body: RequestBody.AsyncIterator

        mutating func next() async throws -> ByteBuffer? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? {
            await expectation.meet()
            return try await body.next(isolation: actor)
        }
    }
}
