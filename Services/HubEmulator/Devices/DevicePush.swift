import HTTPTypes

/// What a simulated device receives: the push as the platform's push service would hand it over.
///
/// Made for every delivery, so it only holds what is there already; texts are made when somebody looks.
struct DevicePush: Encodable, Sendable {
    let platform: NotificationFormat
    let body: [UInt8]
    /// Of the send; the pass-through ones are picked out when the push is shown.
    let requestHeaders: HTTPFields
    /// The headers of the device's template, which stand for those of the request.
    let templateHeaders: [String: String]?
    let messageID: String
    let receivedAt: WireTime

    var headers: [String: String] { templateHeaders ?? PassThroughHeaders.select(from: requestHeaders) }

    /// About how much memory it holds.
    var byteCount: Int { 200 + body.count + requestHeaders.byteCount }

    private enum CodingKeys: String, CodingKey {
        case platform = "Platform"
        case body = "Body"
        case headers = "Headers"
        case messageID = "MessageId"
        case receivedAt = "ReceivedAt"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(platform.rawValue, forKey: .platform)
        try container.encode(String(decoding: body, as: UTF8.self), forKey: .body)
        try container.encode(headers, forKey: .headers)
        try container.encode(messageID, forKey: .messageID)
        try container.encode(receivedAt.rfc3339, forKey: .receivedAt)
    }
}
