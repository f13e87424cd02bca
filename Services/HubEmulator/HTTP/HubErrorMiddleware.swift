import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceRuntime

/// Answers the hub's errors in the hub's form and puts the tracking IDs on every answer.
struct HubErrorMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        let identity = RequestIdentity(headers: request.headers)
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as HubError {
            response = error.response(for: identity)
        } catch is NIOTooManyBytesError {
            response = HubError.bodyTooLarge.response(for: identity)
        } catch let error as HTTPParserError {
            throw error  // Hummingbird answers it by closing the connection.
        } catch let error as HTTPError {
            response = HubError(error.status, detail: error.body ?? error.status.reasonPhrase).response(for: identity)
        } catch is CancellationError {
            response = HubError.stopping.response(for: identity)
        } catch is Problem {
            // A fault cut the connection: nobody reads this.
            response = HubError.stopping.response(for: identity)
        } catch {
            // The type only: a description could hold something of the request.
            context.logger.error(
                "Request failed unexpectedly", metadata: ["error.type": "\(String(reflecting: type(of: error)))"])
            response = HubError.internalError.response(for: identity)
        }
        identity.stamp(&response)
        return response
    }
}
