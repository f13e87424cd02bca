import Hummingbird
import Synchronization

/// The paths and methods of a router, for `405` with `Allow` instead of `404` where only the method is wrong.
final class RouteTable: Sendable {
    private struct Route {
        let segments: [Substring]
        let method: String

        var captures: Int { segments.count(where: RouteTable.isCapture) }
    }

    private let routes = Mutex<[Route]>([])

    /// Replaces the routes; called once the router is complete.
    func set(_ descriptions: [(path: String, method: String)]) {
        let known = descriptions.map { Route(segments: RouteTable.segments(of: $0.path[...]), method: $0.method) }
        routes.withLock { $0 = known }
    }

    /// The methods that a path takes, sorted; empty: nothing is there.
    ///
    /// Where several patterns match, the one with the fewest captures has the path, as in the router: what
    /// `/notifications/{id}` takes says nothing of `/notifications/batch`.
    func methods(of path: String) -> [String] {
        let segments = RouteTable.segments(of: path[...])
        let found = routes.withLock { routes in routes.filter { RouteTable.matches($0.segments, segments) } }
        let fewest = found.map(\.captures).min()
        return Set(found.filter { $0.captures == fewest }.map(\.method)).sorted()
    }

    private static func segments(of path: Substring) -> [Substring] { path.split(separator: "/") }

    private static func isCapture(_ segment: Substring) -> Bool {
        segment.contains("{") || segment.hasPrefix(":") || segment.contains("*")
    }

    /// Captures (`{id}`, `:id`) and `*` take one segment, `**` takes the rest.
    private static func matches(_ pattern: [Substring], _ path: [Substring]) -> Bool {
        for (index, segment) in pattern.enumerated() {
            if segment == "**" { return true }
            guard index < path.count else { return false }
            guard isCapture(segment) || segment == path[index] else { return false }
        }
        return pattern.count == path.count
    }
}
