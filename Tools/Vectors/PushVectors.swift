import Domain
import Foundations
import NotificationHubs

/// Native pushes: the bodies of the dispatcher, as devices get them, and forms that it never sends.
enum PushVectors {
    static func cases(_ signatures: VectorSignatures) throws -> [VectorCase] {
        var cases: [VectorCase] = []
        for platform in Platform.known {
            for isSigned in [false, true] {
                let signature = isSigned ? signatures.push : nil
                for presentation in [Presentation.silent, .alert] {
                    let sent = try plan(presentation).notification(
                        for: platform, now: Timestamp(milliseconds: Int64(VectorKeys.date)), signature: signature)
                    let name = "\(platform) \(presentation == .silent ? "silent" : "alert")"
                    cases.append(try Self.case(name, platform, sent, signature))
                }
                let withdrawal = isSigned ? signatures.withdrawal : nil
                let sent = HubNotification.withdrawal(
                    of: try id(), recipient: try user(), for: platform, signature: withdrawal)
                cases.append(try Self.case("\(platform) withdrawal", platform, sent, withdrawal, withdraw: true))
            }
        }
        return cases + (try declarative(signatures)) + oddities(signatures.push)
    }

    /// Pushes to browsers with `BROWSER_PUSH_URL`: the same values, within a message that Safari can show by itself.
    private static func declarative(_ signatures: VectorSignatures) throws -> [VectorCase] {
        try [false, true].flatMap { isSigned in
            try [DispatchWork.push, .withdrawal].map { work in
                let isWithdrawal = work == .withdrawal
                let signature = isSigned ? (isWithdrawal ? signatures.withdrawal : signatures.push) : nil
                var plan = try plan(.alert)
                plan.work = work
                let data = PushData(plan, signature: signature, browserPage: "https://app.example.com/")
                let sent =
                    isWithdrawal
                    ? HubNotification.withdrawal(for: .browser, data)
                    : plan.notification(for: .browser, now: Timestamp(milliseconds: Int64(VectorKeys.date)), data)
                let name = "browser declarative \(isWithdrawal ? "withdrawal" : "alert")"
                return try Self.case(name, .browser, sent, signature, withdraw: isWithdrawal)
            }
        }
    }

    private static func id() throws -> NotificationID {
        guard let id = NotificationID(VectorKeys.pushed) else { throw VectorKeys.Unusable() }
        return id
    }

    private static func user() throws -> UserName {
        guard let user = UserName(VectorKeys.user) else { throw VectorKeys.Unusable() }
        return user
    }

    private static func plan(_ presentation: Presentation) throws -> DispatchPlan {
        DispatchPlan(
            id: try id(), recipient: try user(), presentation: presentation,
            expiresAt: Timestamp(milliseconds: Int64(VectorKeys.date) + 86_400_000), collapseKey: "key")
    }

    private static func `case`(
        _ name: String, _ platform: Platform, _ sent: HubNotification?, _ signature: PushSignature?,
        withdraw: Bool = false
    ) throws -> VectorCase {
        guard let body = sent?.body else { throw VectorKeys.Unusable() }
        let (form, push) = try received(body, platform)
        return VectorCase(
            signature == nil ? name : "\(name) signed",
            [
                "platform": JSONLiteral(platform.rawValue), "sent": JSONLiteral(body), "form": JSONLiteral(form),
                "push": push,
                "expect": accepted(
                    VectorKeys.pushed, signature.map { String($0.timestamp) }, signature?.signature, withdraw),
            ])
    }

    /// What the device gets of a body.
    private static func received(_ body: String, _ platform: Platform) throws -> (String, JSONLiteral) {
        let json = JSONValue(text: body)
        switch platform {
        case .windows: return ("raw", JSONLiteral(body))
        case .browser: return ("text", JSONLiteral(body))
        case .apple:
            guard let json else { throw VectorKeys.Unusable() }
            return ("object", JSONLiteral(json))
        default:
            guard let data = json?["data"] ?? json?["message"]?["data"] else { throw VectorKeys.Unusable() }
            return ("data", JSONLiteral(data))
        }
    }

    static func accepted(
        _ id: String, _ timestamp: String? = nil, _ signature: String? = nil, _ withdraw: Bool = false
    ) -> JSONLiteral {
        [
            "accepted": true, "id": JSONLiteral(id), "timestamp": JSONLiteral(timestamp),
            "signature": JSONLiteral(signature), "withdraw": JSONLiteral(withdraw),
        ]
    }

    static func rejected(_ reason: String) -> JSONLiteral { ["accepted": false, "reason": JSONLiteral(reason)] }

    /// A case of a push that was not made by the builders.
    static func push(_ name: String, _ form: String, _ push: JSONLiteral, _ expect: JSONLiteral) -> VectorCase {
        let platforms = ["object": "apple", "data": "fcmv1", "raw": "windows"]
        return VectorCase(
            name,
            [
                "platform": JSONLiteral(platforms[form] ?? "browser"), "sent": nil, "form": JSONLiteral(form),
                "push": push, "expect": expect,
            ])
    }

    /// Harmless differences, and pushes of other senders.
    private static func oddities(_ signature: PushSignature) -> [VectorCase] {
        let (id, unusable) = (VectorKeys.pushed, rejected("SP-PUSH"))
        let (ts, sig) = (String(signature.timestamp), signature.signature)
        let longID = String(repeating: "x", count: 64)
        return [
            push(
                "apple with other members", "object",
                ["aps": ["alert": "x"], "secureId": JSONLiteral(id), "host": "evil.example", "n": 7], accepted(id)),
            push("apple of another sender", "object", ["aps": ["alert": "x"], "id": 7], rejected("foreign")),
            push("fcmv1 of another sender", "data", ["id": "7"], rejected("foreign")),
            push("fcmv1 empty", "data", [:], rejected("foreign")),
            push("browser of another sender", "text", "{\"id\":\"7\"}", rejected("foreign")),
            push("browser with blanks", "text", JSONLiteral(" {\n\"secureId\" : \"\(id)\" }\r\n"), accepted(id)),
            push("browser with escapes", "text", JSONLiteral("{\"secure\\u0049d\":\"\(id)\"}"), accepted(id)),
            push("windows with a line feed", "raw", JSONLiteral(id + "\n"), accepted(id)),
            push("windows with CR LF", "raw", JSONLiteral("\(id) \(ts) \(sig)\r\n"), accepted(id, ts, sig)),
            push("windows with two line feeds", "raw", JSONLiteral(id + "\n\n"), unusable),
            push("windows with two blanks", "raw", JSONLiteral("\(id)  \(ts) \(sig)"), unusable),
            push("windows with a blank at the end", "raw", JSONLiteral("\(id) "), unusable),
            push("windows with one value too few", "raw", JSONLiteral("\(id) \(ts)"), unusable),
            push("windows with one value too many", "raw", JSONLiteral("\(id) \(ts) \(sig) x"), unusable),
            push("windows withdrawal at the end", "raw", JSONLiteral("\(id) \(ts) \(sig) withdraw"), unusable),
            push("the longest ID", "data", ["secureId": JSONLiteral(longID)], accepted(longID)),
            push("an ID that is too long", "data", ["secureId": JSONLiteral(longID + "x")], unusable),
            push("the shortest ID", "data", ["secureId": "7"], accepted("7")),
            push("an ID of all characters", "data", ["secureId": "aZ09-_"], accepted("aZ09-_")),
            push(
                "ts and sig of 128 bytes", "data",
                [
                    "secureId": JSONLiteral(id), "ts": JSONLiteral(String(repeating: "1", count: 128)),
                    "sig": JSONLiteral(String(repeating: "A", count: 128)),
                ], accepted(id, String(repeating: "1", count: 128), String(repeating: "A", count: 128))),
            push(
                "ts and sig of 129 bytes", "data",
                [
                    "secureId": JSONLiteral(id), "ts": JSONLiteral(String(repeating: "1", count: 129)),
                    "sig": JSONLiteral(String(repeating: "A", count: 129)),
                ], accepted(id)),
        ]
    }
}
