import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// Answers `Expect: 100-continue` (RFC 9110, 10.1.1): .NET Framework and curl send a larger body only after the 100, or
/// after a second without it.
struct ContinueMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        if request.headers[.expect]?.lowercased() == "100-continue" { try? await tellToContinue(context.channel) }
        return try await next(request, context)
    }

    /// Written behind HTTP/1.1's encoder, in whose eyes the answer has not begun. HTTP/2 clients do not wait.
    private func tellToContinue(_ channel: any Channel) async throws {
        try await channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            guard let encoder = try? pipeline.context(handlerType: HTTPResponseEncoder.self) else { return }
            let line = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")
            encoder.writeAndFlush(NIOAny(IOData.byteBuffer(line)), promise: nil)
        }.get()
    }
}
