import Foundations
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceRuntime

/// The direct route of a plain send, as dispatchers send it. It calls the same functions as the router.
///
/// Decision: docs/decisions/0007-direct-routes.md
extension SendController {
    /// The targets of dispatchers and of Azure's clients for servers.
    private static let targets = ["", "/"].flatMap { end in
        ["2015-01", "2015-04", "2020-06"].map { "/messages\(end)?api-version=\($0)" }
    }

    var directRoutes: DirectRoutes {
        DirectRoutes([
            DirectRoute(.post, ":hub/messages", targets: Self.targets, maxBodyBytes: 8_192) { request, reply in
                // Faults delay answers and cut connections.
                guard state.faults.all.isEmpty, !HubName.reserved.contains(request.parameter.lowercased()),
                    let plain = request.request
                else { return false }
                var context = EmulatorContext(
                    source: ApplicationRequestContextSource(channel: reply.channel, logger: request.logger))
                context.coreContext.parameters["hub"] = Substring(request.parameter)
                let executor = EventLoopTaskExecutor.of(reply.channel.eventLoop)
                Task(executorPreference: executor) { [trace = request.trace, context] in
                    await RequestTrace.$current.withValue(trace) { await answer(plain, context, reply) }
                }
                return true
            }
        ])
    }

    private func answer(_ request: Request, _ context: EmulatorContext, _ reply: DirectReply) async {
        do {
            var response = try await HubErrorMiddleware().handle(request, context: context) { request, context in
                try await send(request, context: context)
            }
            let body = CollectedBody()
            if response.body.contentLength != 0 { try await response.body.write(body) }
            // The handler of the connection writes it.
            response.headers[.contentLength] = nil
            reply(.success(CompleteResponse(status: response.status, headers: response.headers, body: body.buffer)))
        } catch {
            reply(.failure(error))
        }
    }
}

/// A body of a response in memory.
private final class CollectedBody: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ part: ByteBuffer) { buffer.writeImmutableBuffer(part) }

    func finish(_ trailingHeaders: HTTPFields?) {}
}
