/// The `$filter` of a listing: `FIELD eq 'VALUE'`, several joined by `and`, a quote inside a value doubled.
struct RegistrationFilter: Equatable, Sendable {
    struct Condition: Equatable, Sendable {
        let field: String
        let value: String
    }

    /// Official clients say `ChannelUri` for every platform.
    static let anyHandleField = "channeluri"
    private static let fields = Set(NotificationFormat.platforms.flatMap(\.handleFields).map { $0.lowercased() })

    /// The field in lower case.
    let conditions: [Condition]

    /// - Throws: 400 for anything else than a handle of a platform.
    init(_ text: String) throws(HubError) {
        var rest = text[...]
        var conditions: [Condition] = []
        while true {
            let field = Self.word(&rest).lowercased()
            guard Self.fields.contains(field), Self.word(&rest).lowercased() == "eq",
                let value = Self.quoted(&rest)
            else { throw HubError.badRequest("The $filter is not valid.") }
            conditions.append(Condition(field: field, value: value))
            let joint = Self.word(&rest).lowercased()
            if joint.isEmpty && rest.isEmpty { break }
            guard joint == "and" else { throw HubError.badRequest("The $filter is not valid.") }
        }
        self.conditions = conditions
    }

    func matches(_ registration: Registration) -> Bool {
        conditions.allSatisfy { condition in
            let own = registration.field(condition.field)
            guard let value = own ?? (condition.field == Self.anyHandleField ? registration.handle : nil) else {
                return false
            }
            if registration.format == .apple { return value.uppercased() == condition.value.uppercased() }
            // The JavaScript client escapes the URLs of Windows and browsers once more than the query is.
            return value == condition.value || value == PercentDecoding.decode(condition.value)
        }
    }

    private static func word(_ rest: inout Substring) -> Substring {
        rest = rest.drop { $0 == " " }
        let word = rest.prefix { $0 != " " && $0 != "'" }
        rest = rest[word.endIndex...]
        return word
    }

    private static func quoted(_ rest: inout Substring) -> String? {
        rest = rest.drop { $0 == " " }
        guard rest.first == "'" else { return nil }
        var value = ""
        rest = rest.dropFirst()
        while let end = rest.firstIndex(of: "'") {
            value += rest[..<end]
            rest = rest[rest.index(after: end)...]
            guard rest.first == "'" else { return value }
            value += "'"
            rest = rest.dropFirst()
        }
        return nil
    }
}
