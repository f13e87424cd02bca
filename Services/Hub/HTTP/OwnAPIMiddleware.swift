import HTTPTypes
import Hummingbird
import ServiceRuntime

/// Protects the emulator's own API, which needs no token, from web pages of other origins in a developer's browser.
struct OwnAPIMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    let hosts: HostAllowList

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        try hosts.check(request)
        guard HostAllowList.isSameOrigin(request) else {
            throw Problem.forbidden("Pages of other origins cannot use the emulator's API.")
        }
        return try await next(request, context)
    }
}
