import Foundations

/// Converts payloads of the format `gcm`, of FCM's former API, to messages of the HTTP v1 API.
enum FCMLegacyPayload {
    /// They name the target, which only the hub sets.
    private static let targets: Set<String> = ["to", "registration_ids", "condition", "notification_key"]
    /// For devices that FCM does not push to here, or without a meaning for long.
    private static let ignored: Set<String> = ["content_available", "mutable_content", "delay_while_idle"]

    static func message(_ payload: JSONValue) throws(PushRefusal) -> JSONValue {
        guard let members = payload.members else { throw PushRefusal(.invalid, "the payload is no object") }
        var message: [JSONValue.Member] = []
        var android: [JSONValue.Member] = []
        for member in members where !ignored.contains(member.name) {
            switch member.name {
            case "data": message.append(JSONValue.Member("data", strings(member.value)))
            case "collapse_key", "priority", "restricted_package_name": android.append(member)
            case "time_to_live":
                let digits = if case .number(let digits) = member.value { digits } else { member.value.text ?? "" }
                android.append(JSONValue.Member("ttl", .string("\(digits)s")))
            case "notification": android.append(JSONValue.Member("notification", notification(member.value)))
            case let name where targets.contains(name): throw PushRefusal(.invalid, "the payload has a target")
            default: throw PushRefusal(.invalid, "the payload has an unknown member")
            }
        }
        if !android.isEmpty { message.append(JSONValue.Member("android", .object(android))) }
        return .object(message)
    }

    /// The former API converted numbers and booleans to strings.
    private static func strings(_ data: JSONValue) -> JSONValue {
        guard let members = data.members else { return data }
        return .object(
            members.map { member in
                switch member.value {
                case .number, .boolean: JSONValue.Member(member.name, .string(member.value.json))
                default: member
                }
            })
    }

    /// Some members have another name, and lists were texts with JSON in them.
    private static func notification(_ given: JSONValue) -> JSONValue {
        guard let members = given.members else { return given }
        return .object(
            members.map { member in
                switch member.name {
                case "android_channel_id": JSONValue.Member("channel_id", member.value)
                case "body_loc_args", "title_loc_args":
                    JSONValue.Member(member.name, member.value.text.flatMap { JSONValue(text: $0) } ?? member.value)
                default: member
                }
            })
    }
}
