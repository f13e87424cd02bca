import Foundation
import Foundations

/// The `$filter` of a list: `FIELD eq 'VALUE'`, several of them joined by `and`, quotes in values doubled.
struct RegistrationFilter: Equatable, Sendable {
    struct Condition: Equatable, Sendable {
        let field: String
        let value: String
    }

    /// Official clients write `ChannelUri` for every platform.
    private static let anyHandleField = "channeluri"
    private static let fields = Set(NotificationFormat.platforms.flatMap(\.handleFields).map { $0.lowercased() })

    /// The fields are in lower case.
    let conditions: [Condition]

    /// - Throws: 400 for anything but handles of platforms.
    init(_ text: String) throws(HubError) {
        var rest = text.unicodeScalars[...]
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

    /// The handles that a match can have; nil if the filter names none.
    var handles: [String]? {
        let named = conditions.filter { condition in
            condition.field == Self.anyHandleField
                || NotificationFormat.platforms.contains {
                    $0 != .baidu && $0.handleFields.first?.lowercased() == condition.field
                }
        }
        if let value = named.first?.value {
            return [value, value.uppercased(), PercentCoding.decodeLeniently(value)]
        }
        let parts = NotificationFormat.baidu.handleFields.compactMap { field in
            conditions.first { $0.field == field.lowercased() }?.value
        }
        guard parts.count == NotificationFormat.baidu.handleFields.count else { return nil }
        return [parts.joined(separator: "-"), parts.map { PercentCoding.decodeLeniently($0) }.joined(separator: "-")]
    }

    func matches(_ registration: RegistrationEntry) -> Bool {
        conditions.allSatisfy { condition in
            let own = registration.field(condition.field)
            guard let value = own ?? (condition.field == Self.anyHandleField ? registration.handle : nil) else {
                return false
            }
            if registration.format == .apple { return value.uppercased() == condition.value.uppercased() }
            // The JavaScript client escapes the URLs of Windows and browsers twice.
            return value == condition.value || value == PercentCoding.decodeLeniently(condition.value)
        }
    }

    private static func word(_ rest: inout Substring.UnicodeScalarView) -> String {
        rest = rest.drop { $0 == " " }
        let word = rest.prefix { $0 != " " && $0 != "'" }
        rest = rest[word.endIndex...]
        return String(word)
    }

    private static func quoted(_ rest: inout Substring.UnicodeScalarView) -> String? {
        rest = rest.drop { $0 == " " }
        guard rest.first == "'" else { return nil }
        var value = String.UnicodeScalarView()
        rest = rest.dropFirst()
        while let end = rest.firstIndex(of: "'") {
            value += rest[..<end]
            rest = rest[rest.index(after: end)...]
            guard rest.first == "'" else { return String(value) }
            value.append("'")
            rest = rest.dropFirst()
        }
        return nil
    }
}

/// The place where a list continues: the sequence of the last registration of the page before.
enum ContinuationToken {
    /// As the service writes it: base64, and percent-encoded, because clients insert it into a URL.
    ///
    /// It always ends in `%3D%3D`, because the number has 19 digits: a client that encodes it wrongly is seen at once.
    static func make(after sequence: Int) -> String {
        let digits = String(sequence)
        let text = "31(n);" + String(repeating: "0", count: max(0, 19 - digits.count)) + digits
        return Data(text.utf8).base64EncodedString().replacing("=", with: "%3D")
    }

    /// Reads a token, which may be escaped several times.
    ///
    /// - Throws: 400.
    static func read(_ token: String) throws(HubError) -> Int {
        guard let data = Data(base64Encoded: PercentCoding.decodeRepeatedly(token)),
            let sequence = String(decoding: data, as: UTF8.self).split(separator: ";").last.flatMap({ Int($0) })
        else { throw HubError.badRequest("The continuation token is not valid.") }
        return sequence
    }
}
