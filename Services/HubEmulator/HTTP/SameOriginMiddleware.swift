import HTTPTypes
import Hummingbird
import ServiceRuntime

/// Keeps web pages of other origins from using the emulator's own API through a developer's browser.
struct SameOriginMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        if let origin = request.headers[.origin] {
            let authority = origin.firstRange(of: "://").map { origin[$0.upperBound...] } ?? origin[...]
            guard authority.lowercased() == request.head.authority?.lowercased() else {
                throw Problem.forbidden("The emulator's API is not for pages of other origins.")
            }
        }
        return try await next(request, context)
    }
}
