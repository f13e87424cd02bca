import Domain
import Foundations

/// One push as it is sent to APNs: checked, with the headers that do not change from attempt to attempt.
struct APNsMessage: Sendable {
    private let origin: PushOrigin
    private let path: String
    private let body: [UInt8]
    private let headers: [PushHTTPField]
    /// Whether the topic is that of the credentials, and belongs to the push type. Otherwise a refusal of the topic is
    /// an error of the sender, or of the device whose template has the topic.
    let hasUsualTopic: Bool

    /// Apple uses 32 bytes today, and more for Live Activities, but the length may change.
    private static let maxToken = 512
    private static let maxBytes = 4096
    private static let maxVoIPBytes = 5120
    /// APNs keeps a push for 30 days at most.
    private static let maxStorage = Duration.seconds(30 * 86_400)
    private static let maxCollapseID = 64

    /// The suffixes that push types add to the bundle ID.
    private static let suffixes = [
        "complication": ".complication", "controls": ".push-type.controls", "fileprovider": ".pushkit.fileprovider",
        "liveactivity": ".push-type.liveactivity", "location": ".location-query", "pushtotalk": ".voip-ptt",
        "voip": ".voip", "widgets": ".push-type.widgets",
    ]
    private static let typeBytes = ByteSet("abcdefghijklmnopqrstuvwxyz-")

    init(_ request: PushRequest, _ configuration: APNsConfiguration, now: Timestamp) throws(PushRefusal) {
        guard case .handle(let handle) = request.address, let token = Self.token(handle) else {
            throw PushRefusal(.wrongAddress, "BadDeviceToken")
        }
        let given = request.headers
        let type = given["apns-push-type"] ?? Self.type(of: request.body)
        guard (1...32).contains(type.utf8.count), Self.typeBytes.containsAll(type) else {
            throw PushRefusal(.invalid, "InvalidPushType")
        }
        guard !request.body.isEmpty else { throw PushRefusal(.invalid, "PayloadEmpty") }
        let limit = type == "voip" ? Self.maxVoIPBytes : Self.maxBytes
        guard request.body.count <= limit else { throw PushRefusal(.tooLarge, "more than \(limit) bytes") }
        let topic = given["apns-topic"] ?? Self.topic(configuration.topic, type)
        guard APNsConfiguration.isTopic(topic) else { throw PushRefusal(.invalid, "BadTopic") }
        // The default of APNs is 10, which it refuses for a background push.
        let priority = given["apns-priority"] ?? (type == "background" ? "5" : "10")
        guard ["1", "5", "10"].contains(priority) else { throw PushRefusal(.invalid, "BadPriority") }
        var headers = [
            PushHTTPField("apns-push-type", type), PushHTTPField("apns-topic", topic),
            PushHTTPField("apns-priority", priority),
        ]
        if let expiration = try Self.expiration(request, now: now) {
            headers.append(PushHTTPField("apns-expiration", "\(expiration)", indexing: .nameIndexed))
        }
        if let collapseID = given["apns-collapse-id"] {
            guard Self.isCollapseID(collapseID) else { throw PushRefusal(.invalid, "BadCollapseId") }
            headers.append(PushHTTPField("apns-collapse-id", collapseID, indexing: .nameIndexed))
        }
        origin = configuration.origin
        path = "/3/device/" + token
        body = request.body
        self.headers = headers
        hasUsualTopic = topic == configuration.topic && Self.isUsual(type, topic)
    }

    /// Whether a push type goes with the topic of an app: one without a topic of its own, or the one that the topic
    /// ends with. For an unknown type APNs may require any topic.
    private static func isUsual(_ type: String, _ topic: String) -> Bool {
        ["alert", "background"].contains(type) || suffixes[type].map(topic.hasSuffix) == true
    }

    /// A device token in lower case; `nil` if it is none.
    static func token(_ text: String) -> String? {
        let count = text.utf8.count
        guard (2...maxToken).contains(count), count.isMultiple(of: 2), ByteSet.hexDigits.containsAll(text) else {
            return nil
        }
        return text.lowercased()
    }

    /// The push type by the payload: `background` if it has no alert, sound and badge, as with Azure.
    private static func type(of body: [UInt8]) -> String {
        // Most payloads need not be parsed.
        guard body.count <= maxBytes, body.contains("content-available".utf8),
            let json = try? JSONValue(strict: body, maxMembers: maxBytes), let aps = json["aps"],
            aps["content-available"]?.number == 1
        else { return "alert" }
        return ["alert", "sound", "badge"].contains { aps[$0] != nil } ? "alert" : "background"
    }

    /// Apple documents only the maximum length. Blanks at its ends do not belong to a header's value.
    private static func isCollapseID(_ text: String) -> Bool {
        (1...maxCollapseID).contains(text.utf8.count) && ByteSet.visible.union(ByteSet(" ")).containsAll(text)
            && !text.hasPrefix(" ") && !text.hasSuffix(" ")
    }

    private static func topic(_ topic: String, _ type: String) -> String {
        guard let suffix = suffixes[type], !topic.hasSuffix(suffix) else { return topic }
        return topic + suffix
    }

    /// Unix seconds; 0 for one try without storing. The header of the send counts, otherwise the end of the push.
    private static func expiration(_ request: PushRequest, now: Timestamp) throws(PushRefusal) -> Int64? {
        var seconds = try request.secondsLeft(now: now).map { (now + .seconds($0)).seconds }
        if let text = request.headers["apns-expiration"] {
            guard (1...12).contains(text.utf8.count), ByteSet.digits.containsAll(text), let time = Int64(text) else {
                throw PushRefusal(.invalid, "BadExpirationDate")
            }
            seconds = time
        }
        return seconds.map { min($0, (now + maxStorage).seconds) }
    }

    /// The request of one attempt, with an ID of its own.
    func request(authorization: String) -> PushHTTPRequest {
        let id = NotificationID.ofRequest().description
        let own = [
            // One token serves all pushes, but Apple asks for it to be left out of the table.
            PushHTTPField("authorization", authorization, indexing: .notIndexed),
            PushHTTPField("apns-id", id, indexing: .nameIndexed),
        ]
        return PushHTTPRequest(origin: origin, path: path, headers: own + headers, body: body)
    }
}
