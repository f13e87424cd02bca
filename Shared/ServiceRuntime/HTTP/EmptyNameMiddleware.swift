import HTTPTypes
import Hummingbird

/// Answers 404 to a request that names nothing in a list, such as `GET /installations/` where there is
/// `GET /installations/{id}`: the ID is empty. The router takes it for `GET /installations`, which answers with the list.
struct EmptyNameMiddleware<Context: RequestContext>: RouterMiddleware {
    private let lists: Set<String>

    init(_ routes: Routes<Context>) {
        let reads = routes.routes.filter { $0.method == .get && $0.template.hasSuffix("}") }
        lists = Set(reads.map { String($0.template[...($0.template.lastIndex(of: "/") ?? $0.template.startIndex)]) })
    }

    @concurrent func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path
        if path.utf8.last == UInt8(ascii: "/"), request.method == .get || request.method == .head,
            lists.contains("/" + path.split(separator: "/").joined(separator: "/") + "/")
        {
            throw Problem.notFound("There is nothing at this path: the ID is empty.")
        }
        return try await next(request, context)
    }
}
