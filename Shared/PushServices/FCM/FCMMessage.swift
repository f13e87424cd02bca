import Foundations

/// One push as it is sent to FCM: the hub's payload `{"message":{…}}`, checked, with the device put in.
struct FCMMessage: Sendable {
    /// The body of the request.
    let body: [UInt8]

    private static let targets: Set<String> = ["fid", "token", "topic", "condition"]
    /// The longest handle, in bytes. Tokens have about 160.
    private static let maxHandle = 4_096
    private static let maxBody = 65_536
    /// Of the names and values that reach the app, in bytes.
    private static let maxPayload = 4_096
    private static let fidBytes = ByteSet.alphanumerics.union(ByteSet("-_"))

    /// - Parameter isCheck: whether FCM only checks the push, and shows it nowhere.
    init(_ request: PushRequest, now: Timestamp, isCheck: Bool = false) throws(PushRefusal) {
        guard case .handle(let handle) = request.address, let target = Self.target(handle) else {
            throw PushRefusal(.wrongAddress, "not a registration token")
        }
        let message = try Self.message(request.body)
        guard let members = message.members, !members.contains(where: { Self.targets.contains($0.name) }) else {
            throw PushRefusal(.invalid, message.members == nil ? "message is no object" : "message has a target")
        }
        let android = try FCMAndroid(message["android"], secondsLeft: request.secondsLeft(now: now))
        for data in [message["data"], android["data"]] {
            guard data?.members?.allSatisfy({ $0.value.text != nil }) ?? (data == nil) else {
                throw PushRefusal(.invalid, "data is no object of strings")
            }
        }
        let parts = [android["data"] ?? message["data"], message["notification"], android["notification"]]
        guard parts.reduce(0, { $0 + Self.size($1) }) <= Self.maxPayload else {
            throw PushRefusal(.tooLarge, "more than \(Self.maxPayload) bytes")
        }
        var writer = JSONWriter(capacity: request.body.count + handle.utf8.count + 64)
        writer.object { object in
            if isCheck { object.member("validate_only", true) }
            object.object("message") { message in
                message.member(target, handle)
                for member in members where member.name != "android" { message.member(member) }
                if let android = android.json { message.member(JSONValue.Member("android", android)) }
            }
        }
        body = writer.bytes
    }

    /// The message in a payload of the hub.
    static func message(_ payload: [UInt8]) throws(PushRefusal) -> JSONValue {
        guard payload.count <= maxBody else { throw PushRefusal(.tooLarge, "more than \(maxBody) bytes") }
        guard let json = try? JSONValue(strict: payload, maxMembers: 4_096) else {
            throw PushRefusal(.invalid, "the payload is not JSON")
        }
        guard let message = json["message"] else { return try FCMLegacyPayload.message(json) }
        guard json.members?.count == 1 else { throw PushRefusal(.invalid, "the payload has more than a message") }
        return message
    }

    /// The member of a message that a handle stands in: an ID of a Firebase installation has exactly 22 digits of
    /// base64url, and is `fid`. Anything else is a registration token.
    ///
    /// - Returns: `nil` for a text that is neither.
    static func target(_ handle: String) -> String? {
        guard (1...maxHandle).contains(handle.utf8.count), ByteSet.visible.containsAll(handle) else { return nil }
        return handle.utf8.count == 22 && fidBytes.containsAll(handle) ? "fid" : "token"
    }

    /// The bytes of an object's names and values.
    private static func size(_ object: JSONValue?) -> Int {
        (object?.members ?? []).reduce(0) {
            $0 + $1.name.utf8.count + ($1.value.text ?? $1.value.json).utf8.count
        }
    }

    func request(to configuration: FCMConfiguration, token: String) -> PushHTTPRequest {
        let headers = [
            // One token serves all pushes for an hour.
            PushHTTPField("authorization", "Bearer \(token)"), PushHTTPField("content-type", "application/json"),
        ]
        return PushHTTPRequest(
            origin: configuration.origin, path: configuration.path, headers: headers, body: body)
    }
}
