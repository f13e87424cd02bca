/// What a simulated device receives: the push as the platform's push service would hand it over.
struct DevicePush: Encodable, Sendable {
    let platform: String
    let body: String
    /// The pass-through headers.
    let headers: [String: String]
    let messageID: String
    let receivedAt: String

    private enum CodingKeys: String, CodingKey {
        case platform = "Platform"
        case body = "Body"
        case headers = "Headers"
        case messageID = "MessageId"
        case receivedAt = "ReceivedAt"
    }
}
