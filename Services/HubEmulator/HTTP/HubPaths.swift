import HTTPTypes
import Hummingbird
import Synchronization

/// The paths of the hub's API and their methods, for 405 instead of 404 where only the method is wrong.
final class HubPaths: Sendable {
    private struct Route {
        let segments: [String]
        let method: String
    }

    private let routes = Mutex<[Route]>([])
    private let reserved = Mutex<Set<String>>([])

    /// Takes the routes over; called once the router is complete.
    func set(_ router: Router<EmulatorContext>) {
        let all = router.routes.map { Route(segments: Self.segments($0.path.description), method: $0.method.rawValue) }
        let names = all.compactMap(\.segments.first).filter { !Self.isCapture($0) && !Self.isResources($0) }
        routes.withLock { $0 = all }
        reserved.withLock { $0 = Set(names) }
    }

    /// Whether a path is the hub's and not the emulator's own (`/emulator/…`, `/livez`, …).
    func isHub(_ path: String) -> Bool {
        guard let first = Self.segments(path).first else { return true }
        return !reserved.withLock { $0.contains(first) }
    }

    /// The methods that a path takes, sorted; empty: nothing is there.
    func methods(of path: String) -> [String] {
        let segments = Self.segments(path)
        let found = routes.withLock { $0.filter { Self.matches($0.segments, segments) } }
        return Set(found.map(\.method)).sorted()
    }

    /// In lower case: the hub's paths are compared without regard to case.
    private static func segments(_ path: String) -> [String] {
        path.lowercased().split(separator: "/").map(String.init)
    }

    private static func isResources(_ segment: String) -> Bool { ["$resources", "%24resources"].contains(segment) }

    private static func matches(_ pattern: [String], _ path: [String]) -> Bool {
        pattern.count == path.count && zip(pattern, path).allSatisfy { isCapture($0) || $0 == $1 }
    }

    /// Hummingbird describes the capture `:hub` as `{hub}`.
    private static func isCapture(_ segment: String) -> Bool { segment.hasPrefix("{") }
}

/// Gives the answers that the runtime makes on the hub's paths the hub's form: to unknown paths and methods, and to
/// what is refused before the routes. Added before ``ProblemMiddleware``, whose problems it replaces.
struct HubPathMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    let paths: HubPaths

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        let answer = try await next(request, context)
        let path = request.uri.path
        // 403 is the page's: a browser came by a foreign host name.
        guard answer.headers[.contentType] == "application/problem+json", answer.status != .forbidden, paths.isHub(path)
        else { return answer }
        let methods = paths.methods(of: path)
        let identity = RequestIdentity(headers: request.headers)
        var response = error(for: request, answer.status, methods).response(for: identity)
        if response.status == .methodNotAllowed { response.headers[.allow] = methods.joined(separator: ", ") }
        response.headers[.retryAfter] = answer.headers[.retryAfter]
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
