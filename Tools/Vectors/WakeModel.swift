import SecurePushCore

/// What is seen of one wake.
struct WakeModel {
    enum Result: String { case newData, noData, failed }

    struct Report {
        var result = Result.noData
        var shown: [String] = []
        var waiting: [String] = []
        var code: String?

        /// Adds the report of the next step.
        mutating func add(_ other: Report) {
            shown += other.shown
            waiting += other.waiting.filter { !waiting.contains($0) }
            code = code ?? other.code
            if result == .newData || other.result == .newData {
                result = .newData
            } else if result == .failed || other.result == .failed {
                result = .failed
            }
        }
    }

    let begin: Int
    var deadline: Int
    var report = Report()
    var requests: [JSONLiteral] = []
    var waits: [JSONLiteral] = []
    var shown: [JSONLiteral] = []
    var generic: [JSONLiteral] = []
    var prompts: [JSONLiteral] = []
    var locked = 0
    var badge: Int?

    init(begin: Int) {
        self.begin = begin
        deadline = begin + 25_000
    }

    func json(end: Int, waiting: [String], screen: JSONLiteral) -> JSONLiteral {
        [
            "completions": 1, "completedAtMs": JSONLiteral(end - begin), "code": JSONLiteral(report.code),
            "result": JSONLiteral(report.result.rawValue), "requests": JSONLiteral(requests),
            "waitsMs": JSONLiteral(waits), "shown": JSONLiteral(shown), "generic": JSONLiteral(generic),
            "prompts": JSONLiteral(prompts), "locked": JSONLiteral(locked), "badge": JSONLiteral(badge),
            "waiting": JSONLiteral(waiting), "screen": screen,
        ]
    }
}

/// The answer to a fetch.
struct SecretModel {
    var id: String
    var text: String
    var wasRead: Bool
    var unread: Int?
    /// Why this device, which has no key, does not open the payload; `nil` if it is not an envelope.
    var closed: String?

    /// `nil` for an answer that is not as it should be.
    init?(_ body: String) {
        guard let json = JSONValue(text: body), let secret = SecretModel(json) else { return nil }
        self = secret
    }

    init?(_ json: JSONValue) {
        guard let id = json["Id"]?.text, PageModel.isID(id), let payload = json["Payload"] else { return nil }
        self.id = id
        text = payload.text ?? payload.json
        if payload["e2e"] != nil, payload["ct"] != nil {
            closed = payload["e2e"]?.number == 1 && payload["keys"]?.members != nil ? "SP-KEY" : "SP-DECRYPT"
        }
        switch json["Read"] {
        case nil: wasRead = false
        case .boolean(let flag)?: wasRead = flag
        default: return nil
        }
        guard let count = json["Unread"] else { return }
        guard let number = PageModel.count(count) else { return nil }
        unread = number
    }
}

/// A page of the inbox.
struct PageModel {
    var ids: [String] = []
    var secrets: [SecretModel] = []
    var unread: Int
    var hasNext: Bool

    /// `nil` for an answer that is not as it should be.
    init?(_ body: String) {
        guard let json = JSONValue(text: body), let list = json["Notifications"]?.elements, list.count <= 200,
            let unread = json["Unread"].flatMap(Self.count)
        else { return nil }
        self.unread = unread
        hasNext = json["Next"] != nil
        for entry in list {
            guard let id = entry["Id"]?.text, Self.isID(id) else { return nil }
            ids.append(id)
            guard entry["Payload"] != nil else { continue }
            guard let secret = SecretModel(entry) else { return nil }
            secrets.append(secret)
        }
    }

    static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains(byte)
            }
    }

    /// A number from 0 to a million, without a fraction or an exponent.
    static func count(_ value: JSONValue) -> Int? {
        guard case .number(let digits) = value, let number = Int(digits), (0...1_000_000).contains(number) else {
            return nil
        }
        return number
    }
}
