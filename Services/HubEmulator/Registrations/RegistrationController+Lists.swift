import HTTPTypes
import Hummingbird
import NIOCore

extension RegistrationController {
    /// The hub's page size, and the most it gives.
    static let maximumPageSize = 100

    /// All registrations, which needs Manage, or those of one handle, which a device may ask for.
    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let text = HubQuery(request.uri.query)["$filter"].flatMap { $0.isEmpty ? nil : $0 }
        let call = try gate.admit(request, context, right: text == nil ? .manage : .listen)
        let filter = try text.map { text throws(HubError) in try RegistrationFilter(text) }
        try await injectFaults(platform: nil, context)
        let (limit, after) = try Self.range(call)
        let (page, more) = try hubs.withBook(call.hubKey) { book throws(HubError) in
            book.page(after: after, limit: limit) { filter?.matches($0) ?? true }
        }
        return Self.feed(page, more: more, path: "registrations", call)
    }

    @Sendable func listByTag(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .manage)
        try await injectFaults(platform: nil, context)
        let tag = PercentDecoding.decodeRepeatedly(context.parameters.get("tag") ?? "")
        let (limit, after) = try Self.range(call)
        let tagged = try hubs.withBook(call.hubKey) { book throws(HubError) in book.registrations(tagged: tag) }
        let rest = tagged.filter { $0.sequence > after }
        let path = "tags/\(context.parameters.get("tag") ?? tag)/registrations"
        return Self.feed(Array(rest.prefix(limit)), more: rest.count > limit, path: path, call)
    }

    private static func range(_ call: HubCall) throws(HubError) -> (limit: Int, after: Int) {
        var limit = maximumPageSize
        if let top = call.query["$top"] {
            guard let number = Int(top), number > 0 else { throw HubError.badRequest("The $top is not valid.") }
            limit = min(number, maximumPageSize)
        }
        guard let token = call.query["continuationtoken"], !token.isEmpty else { return (limit, 0) }
        return (limit, try ContinuationToken.read(token))
    }

    private static func feed(_ page: [Registration], more: Bool, path: String, _ call: HubCall) -> Response {
        var headers: HTTPFields = [.contentType: AtomDocument.feedContentType]
        if more, let last = page.last {
            headers[HubHeaders.continuationToken] = ContinuationToken.make(after: last.sequence)
        }
        let document = AtomDocument.feed(page, path: path, call: call)
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: document)))
    }
}
