import HTTPTypes
import Hummingbird

/// What the gate looks at in a request.
struct HubRequestCredentials: Sendable {
    /// The hub's name as it stands in the path; empty for what is about the namespace.
    let hub: String
    /// The `Host`.
    let authority: String?
    /// As it came, escapes and all.
    let path: String
    let query: String?
    /// The token.
    let authorization: String?
}

extension HubRequestCredentials {
    init(_ request: Request, _ context: EmulatorContext) {
        self.init(
            hub: context.parameters.get("hub") ?? "", authority: request.head.authority, path: request.uri.path,
            query: request.uri.query, authorization: request.headers[.authorization])
    }
}
