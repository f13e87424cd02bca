import Domain
import Foundations
package import HTTPTypes
package import Hummingbird

/// A second way to a route of the router, for the requests that a service gets most.
///
/// A small request is answered on the event loop that read it, by plain functions and callbacks: without a task, and
/// without a change of threads except for the store. Every request that the direct route does not take goes to the
/// router, whose route at the same path must call the same functions. So a direct route changes the cost of a request
/// and never its meaning.
///
/// Only HTTP/1.1 requests that have nothing unusual are offered to it: a body within ``maxBodyBytes`` whose length is
/// declared, no `Expect`, `Origin`, `Transfer-Encoding` or `Upgrade`, and a connection that stays open.
/// ``PlainRequestHead`` has the details.
///
/// Decision: docs/decisions/0007-direct-routes.md
package struct DirectRoute: Sendable {
    /// Takes a request, or leaves it to the router.
    ///
    /// It is called on the request's event loop and must not block.
    ///
    /// - Returns: `true` if the reply was called or will be, exactly once and on any thread; `false` if the router is
    ///   to answer. The reply must not be called then.
    package typealias Answer = @Sendable (DirectRequest, DirectReply) -> Bool

    let method: HTTPRequest.Method
    /// The path as in metrics and logs: with `{id}` for a captured segment.
    let template: String
    /// Whether the captured segment is an `{id}`, which the access log shows.
    var hasID: Bool { template.hasSuffix("{id}") }
    let maxBodyBytes: Int
    let answer: Answer
    /// The method, a space, and the path or the part of it before the captured last segment.
    private let prefix: [UInt8]
    private let hasCapture: Bool
    /// The rest of the path after the captured segment: one of these.
    private let tails: [[UInt8]]

    /// - Parameters:
    ///   - path: as in the router. Its last segment may be captured (`:id`); the others are plain.
    ///   - maxBodyBytes: requests with a larger body go to the router.
    package init(_ method: HTTPRequest.Method, _ path: RouterPath, maxBodyBytes: Int = 0, answer: @escaping Answer) {
        self.method = method
        self.maxBodyBytes = maxBodyBytes
        self.answer = answer
        template = path.description
        let capture = template.utf8.firstIndex(of: UInt8(ascii: "{"))
        prefix = Array("\(method.rawValue) ".utf8) + template.utf8[..<(capture ?? template.utf8.endIndex)]
        hasCapture = capture != nil
        tails = [[]]
    }

    /// A route whose first segment is captured.
    ///
    /// - Parameters:
    ///   - path: as in the router: `:hub/messages`.
    ///   - targets: the rest of the targets that it takes, with their queries: `/messages?api-version=1`.
    ///   - maxBodyBytes: requests with a larger body go to the router.
    package init(
        _ method: HTTPRequest.Method, _ path: RouterPath, targets: [String], maxBodyBytes: Int,
        answer: @escaping Answer
    ) {
        self.method = method
        self.maxBodyBytes = maxBodyBytes
        self.answer = answer
        template = path.description
        prefix = Array("\(method.rawValue) /".utf8)
        hasCapture = true
        tails = targets.map { Array($0.utf8) }
    }

    /// The captured segment of a request's path; empty if none is captured.
    ///
    /// - Parameter line: the method, a space and the target.
    /// - Returns: `nil` if the request is for another route. A path with another query or with percent-encoding is.
    func match(_ line: UnsafeRawBufferPointer) -> Range<Int>? {
        guard line.count >= prefix.count else { return nil }
        for index in prefix.indices where line[index] != prefix[index] { return nil }
        let rest = prefix.count..<line.count
        guard hasCapture else { return rest.isEmpty ? rest : nil }
        let end = rest.first { !ByteSet.unreserved.contains(line[$0]) } ?? rest.upperBound
        let tail = line[end...]
        return end > rest.lowerBound && tails.contains { tail.elementsEqual($0) } ? rest.lowerBound..<end : nil
    }
}

package struct DirectRoutes: Sendable {
    let routes: [DirectRoute]
    let cors: CORSPolicy?

    /// - Parameter cors: the same as the router's.
    package init(_ routes: [DirectRoute], cors: CORSPolicy? = nil) {
        self.routes = routes
        self.cors = cors
    }
}

/// The direct routes of a listener, shared by its connections.
final class DirectRouteTable: Sendable {
    let routes: [DirectRoute]
    /// Whether caches must keep apart the responses to different origins, for each route.
    let variesByOrigin: [Bool]
    let service: ServiceContext

    init(_ direct: DirectRoutes, service: ServiceContext) {
        routes = direct.routes
        variesByOrigin = direct.routes.map { direct.cors?.covers($0.template) ?? false }
        self.service = service
    }

    /// The index of a request's route, and the captured segment of its path.
    struct Match {
        let route: Int
        let parameter: Range<Int>
    }

    /// - Parameter line: the method, a space and the target.
    func match(_ line: UnsafeRawBufferPointer) -> Match? {
        for index in routes.indices {
            if let parameter = routes[index].match(line) { return Match(route: index, parameter: parameter) }
        }
        return nil
    }
}
