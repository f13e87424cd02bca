import HTTPTypes
import Hummingbird
import Synchronization

/// The paths of the hub's API and their methods, which tell 405 (wrong method) from 404 (unknown path).
final class HubPaths: Sendable {
    private struct Route {
        let segments: [String]
        let method: String
    }

    private let routes = Mutex<[Route]>([])

    /// Stores the routes; called once the router is complete.
    func set(_ router: Router<EmulatorContext>) {
        let all = router.routes.map { Route(segments: Self.segments($0.path.description), method: $0.method.rawValue) }
        routes.withLock { $0 = all }
    }

    /// Whether a path belongs to a hub and not to the emulator's own API (`/emulator/…`, `/livez`, …).
    func isHub(_ path: String) -> Bool {
        guard let first = Self.segments(path).first else { return true }
        if Self.isCapture(first) || ["$resources", "%24resources"].contains(first) { return true }
        return !routes.withLock { $0.contains { $0.segments.first == first } }
    }

    /// The methods of a path, sorted; empty for an unknown path.
    func methods(of path: String) -> [String] {
        let segments = Self.segments(path)
        let found = routes.withLock { $0.filter { Self.matches($0.segments, segments) } }
        return Set(found.map(\.method)).sorted()
    }

    /// In lower case: the hub compares paths without regard to case.
    private static func segments(_ path: String) -> [String] {
        path.lowercased().split(separator: "/").map(String.init)
    }

    private static func matches(_ pattern: [String], _ path: [String]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { isCapture($0) || $0 == $1 }
    }

    /// Hummingbird describes the capture `:hub` as `{hub}`.
    private static func isCapture(_ segment: String) -> Bool { segment.hasPrefix("{") }
}

/// Gives problems on the hub's paths the hub's form: those of unknown paths and methods, and of requests that are
/// refused before the routes. Added before ``ProblemMiddleware``, whose problems it replaces.
struct HubPathMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    let paths: HubPaths

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        let answer = try await next(request, context)
        let path = request.uri.path
        // 403 is the page's: the browser used a foreign host name.
        guard answer.headers[.contentType] == "application/problem+json", answer.status != .forbidden, paths.isHub(path)
        else { return answer }
        let methods = paths.methods(of: path)
        let identity = RequestIdentity(headers: request.headers)
        var response = error(for: request, answer.status, methods).response(for: identity)
        if response.status == .methodNotAllowed { response.headers[.allow] = methods.joined(separator: ", ") }
        response.headers[.retryAfter] = answer.headers[.retryAfter]
        response.headers[.acceptEncoding] = answer.headers[.acceptEncoding]
        identity.stamp(&response)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func error(for request: Request, _ status: HTTPResponse.Status, _ methods: [String]) -> HubError {
        switch status {
        case .notFound where methods.isEmpty: .unknownHub
        case .notFound, .methodNotAllowed, .notImplemented:
            HubError(.methodNotAllowed, detail: "The specified HTTP verb (\(request.method.rawValue)) is not valid.")
        default: HubError(status, detail: status.reasonPhrase)
        }
    }
}
