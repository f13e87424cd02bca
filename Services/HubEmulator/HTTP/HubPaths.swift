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
        let names = all.compactMap(\.segments.first).filter { !$0.hasPrefix(":") && !Self.isResources($0) }
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
        pattern.count == path.count && zip(pattern, path).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
    }
}

/// Answers requests to paths and methods that the hub does not have in the hub's form.
struct HubPathMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    let paths: HubPaths

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError {
            guard error.status == .notFound, context.endpointPath == "NotFound", paths.isHub(request.uri.path) else {
                throw error
            }
            let identity = RequestIdentity(headers: request.headers)
            var response = answer(to: request).response(for: identity)
            let methods = paths.methods(of: request.uri.path)
            if !methods.isEmpty { response.headers[.allow] = methods.joined(separator: ", ") }
            identity.stamp(&response)
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    private func answer(to request: Request) -> HubError {
        guard !paths.methods(of: request.uri.path).isEmpty else { return .unknownHub }
        return HubError(
            .methodNotAllowed, detail: "The specified HTTP verb (\(request.method.rawValue)) is not valid.")
    }
}
