import NIOHTTP1

/// The head of a request that is plainly a native send to a hub; nil for every other, and for every doubt.
///
/// Nothing is decided here but which way a request goes: what a send means is read by ``HubGate``,
/// ``SendAddressing`` and ``NotificationIntake``, as for requests that come by the routes.
struct FastSendHead {
    /// What the gate looks at.
    let knock: HubRequestCredentials
    /// The values of the two headers, as they came.
    let format: String?
    let tags: String?
    let identity: RequestIdentity
    /// The client's `X-Request-Id`.
    let requestID: String?
    /// What the record keeps.
    let packed: PackedHeaders

    /// - Parameter reserved: first segments of paths that are no hubs.
    init?(_ head: HTTPRequestHead, reserved: Set<String>) {
        guard head.method == .POST, head.version == .http1_1,
            let target = FastSendTarget(head.uri, reserved: reserved),
            let fields = FastSendFields(head.headers), let length = fields.contentLength,
            (0...SendRequest.maximumBodySize).contains(length)
        else { return nil }
        knock = HubRequestCredentials(
            hub: target.hub, authority: fields.authority, path: target.path, query: target.query,
            authorization: fields.authorization)
        format = fields.format
        tags = fields.tags
        identity = RequestIdentity(trackingID: fields.trackingID, correlationID: fields.correlationID)
        requestID = fields.requestID
        packed = fields.packed
    }
}
