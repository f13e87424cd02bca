import Foundation
import SecurePushEnvelope

/// An object in an answer of the server. A member of the wrong type is malformed.
struct AnswerObject: Sendable {
    private let members: [StrictJSON.Name: StrictJSON]

    init(_ json: StrictJSON) throws(StrictJSON.Malformed) { members = try json.object() }

    /// Reads the object that an answer consists of.
    ///
    /// - Throws: ``InvalidAnswer``, whatever the closure throws.
    static func read<Result>(_ data: Data, _ body: (Self) throws -> Result) throws(InvalidAnswer) -> Result {
        do {
            return try body(Self(StrictJSON(data, maxDepth: maxDepth, namesRepeat: true)))
        } catch {
            throw InvalidAnswer(code: .malformedAnswer)
        }
    }

    subscript(name: StrictJSON.Name) -> StrictJSON? { members[name] }

    func text(_ name: StrictJSON.Name) throws -> String? { try members[name].map { try Self.require($0.text) } }

    func boolean(_ name: StrictJSON.Name) throws -> Bool? { try members[name].map { try Self.require($0.boolean) } }

    /// A number from 0 to a million.
    func count(_ name: StrictJSON.Name) throws -> Int? {
        try members[name].map { value in
            let digits = try Self.require(value.number)
            let count = try Self.require(digits.utf8.count <= 7 ? Int(digits) : nil)
            return try Self.require((0...1_000_000).contains(count) ? count : nil)
        }
    }

    /// A time of RFC 3339 with thousandths of a second, as the server writes it; `nil` for another value.
    func date(_ name: StrictJSON.Name) -> Date? {
        members[name]?.text.flatMap {
            try? Date($0, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        }
    }

    /// The ID of a notification.
    func pushID() throws -> PushID { try Self.require(text("Id").flatMap { PushID($0) }) }

    func elements(_ name: StrictJSON.Name, atMost limit: Int) throws -> [AnswerObject] {
        try Self.require(members[name]).elements(atMost: limit).map { try AnswerObject($0) }
    }

    /// - Throws: ``InvalidAnswer`` for `nil`.
    static func require<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw InvalidAnswer(code: .malformedAnswer) }
        return value
    }

    /// The server's payloads are at most 128 deep; the answer adds three levels.
    private static let maxDepth = 160
}
