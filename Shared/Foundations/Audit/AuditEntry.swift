import Crypto

/// One line of the audit log (`AUDIT_LOG`): who did what, when, from where, and with which result. It has no content.
package struct AuditEntry: Sendable, Hashable {
    /// How it ended.
    package enum Result: String, Sendable, CaseIterable {
        /// A command has begun. Another line follows at its end; there is none if the command was killed.
        case begun
        /// It was done.
        case ok
        /// The caller may not do it, or there is no such thing for this caller.
        case refused
        /// The request was not valid.
        case invalid
        /// The system could not do it.
        case failed
    }

    /// The time of the end.
    package var time: Timestamp
    /// The service or program that wrote the line, for example `retrieval`.
    package var service: String
    /// The user, the sender or the operator; `nil` without authentication.
    package var actor: String?
    /// For example `read` or `device.register`.
    package var action: String
    /// The ID of the notification or device, or the name of the user, sender or setting that was changed.
    package var id: String?
    package var result: Result
    /// The IP address at the other end of the connection; `nil` for a command on the machine itself.
    package var address: String?
    /// The ID of the request, as the service's log has it.
    package var request: String?

    /// Longer texts are cut. The unit is bytes of UTF-8.
    package static let maxText = 200
    /// A longer actor is cut. This is the limit of ``UserName``. Only verified names are actors, so nobody fills the
    /// disk with them.
    package static let maxActor = 1024

    /// Makes an entry of the present moment.
    package init(
        service: String, actor: String? = nil, action: String, id: String? = nil, result: Result = .ok,
        address: String? = nil, request: String? = nil, time: Timestamp = .now
    ) {
        (self.time, self.service, self.actor, self.action) = (time, service, actor, action)
        (self.id, self.result, self.address, self.request) = (id, result, address, request)
    }

    /// The line as JSON without its line feed. All lines have the same members in the same order; those without a
    /// value are `null`.
    ///
    /// - Parameter previous: the hash of the line before.
    func line(after previous: AuditHash) -> [UInt8] {
        var json = JSONWriter(capacity: 400)
        json.object { json in
            json.member("time", time.description)
            json.member("service", service)
            json.nullable("actor", actor, limit: Self.maxActor)
            json.member("action", action)
            json.nullable("id", id)
            json.member("result", result.rawValue)
            json.nullable("address", address)
            json.nullable("request", request)
            json.member("prev", previous.text)
        }
        return json.bytes
    }

    /// Every audit log begins with these bytes.
    static let beginning = Array(#"{"time":""#.utf8)
}

extension JSONWriter {
    fileprivate mutating func nullable(_ name: String, _ value: String?, limit: Int = AuditEntry.maxText) {
        guard let value else {
            member(name)
            return json("null")
        }
        member(name, value.cut(to: limit))
    }
}

extension String {
    /// The first bytes, without a scalar that is cut. One character can have any number of bytes.
    fileprivate func cut(to limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while String.Index(end, within: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(unicodeScalars[..<end])
    }
}

/// The hash of a line, which the next line repeats as `prev`: SHA-256 of its bytes without the line feed.
package struct AuditHash: Sendable, Hashable {
    /// 64 lower-case hex digits.
    package let text: String

    /// The `prev` of the first line: zeros.
    package static let none = AuditHash(digits: String(repeating: "0", count: digits))
    private static let digits = 64

    /// Hashes a line.
    package init(of line: some Sequence<UInt8>) { text = SHA256.hash(data: Array(line)).hex }

    /// Reads 64 hex digits; `nil` for another text.
    package init?(_ text: String) {
        guard text.utf8.count == Self.digits, text.utf8.allSatisfy({ hexValue($0) != nil }) else { return nil }
        self.init(digits: text.lowercased())
    }

    private init(digits: String) { text = digits }
}
