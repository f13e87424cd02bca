import HTTPTypes
import Hummingbird
import NIOCore

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
        }
        identity.stamp(&response)
        return response
    }
}
