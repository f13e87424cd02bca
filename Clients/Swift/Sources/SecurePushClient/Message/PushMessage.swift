public import Foundation
import SecurePushEnvelope

/// A message that people can read: the text of a notification, and what belongs to it (contract, section L).
///
/// A payload that is a JSON string is a message with that body. An object with a member `Body` is a message if each
/// member that this type knows has the right type and length; other members are ignored. Everything else is no message.
public struct PushMessage: Sendable, Hashable {
    /// How much the message interrupts the user.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// It is in the list, without a sound.
        case passive
        /// The system's default.
        case active
        /// It breaks through a focus, where the app may do that.
        case timeSensitive = "time-sensitive"
    }

    /// Something that the user can do with one tap.
    public struct Action: Sendable, Hashable, Identifiable {
        /// The ID for ``SecurePushClient/answer(_:action:text:challenge:)``.
        public let id: String
        /// The text of the button.
        public let title: String
        /// Whether the user can write a text with it.
        public let takesText: Bool
    }

    /// The text.
    public var body: String
    /// The title; `nil` if there is none.
    public var title: String?
    /// Where the message leads. It is text of the sender: check it before you open it.
    public var link: String?
    /// The kind of message: a notification category that the app has registered.
    public var category: String?
    /// Messages with the same thread are shown together.
    public var thread: String?
    /// `nil` is as usual.
    public var level: Level?
    /// At most three.
    public var actions: [Action] = []
    /// The JSON text of what the sender adds for the app.
    public var data: String?

    /// Makes a message with a text alone.
    public init(body: String) { self.body = body }
}

extension PushMessage {
    /// Reads a payload, or the content of an envelope.
    ///
    /// - Parameter json: JSON text in UTF-8.
    /// - Returns: `nil` if it is no message.
    public init?(json: Data) {
        guard let json = try? StrictJSON(json), let message = Self.message(json) else { return nil }
        self = message
    }

    private static func message(_ json: StrictJSON) -> PushMessage? {
        if let body = json.text { return PushMessage(body: body) }
        guard let body = json["Body"]?.text, body.utf8.count <= 4_000 else { return nil }
        var message = PushMessage(body: body)
        do {
            message.title = try json.text("Title", 0...200)
            message.link = try json.text("Link", 0...2_000)
            message.category = try json.text("Category", 0...64)
            message.thread = try json.text("Thread", 0...64)
            if let name = try json.text("Level", 0...64) {
                guard let level = Level(rawValue: name) else { return nil }
                message.level = level
            }
            message.actions = try actions(json["Actions"])
        } catch {
            return nil
        }
        message.data = json["Data"].map { String(decoding: $0.json, as: UTF8.self) }
        return message
    }

    private static func actions(_ list: StrictJSON?) throws -> [Action] {
        guard let list else { return [] }
        guard let elements = list.elements, elements.count <= 3 else { throw WrongMember() }
        let actions = try elements.map { element -> Action in
            guard let id = try element.text("Id", 1...32), id.utf8.allSatisfy(isAllowed),
                let title = try element.text("Title", 1...64)
            else { throw WrongMember() }
            guard let input = element["Input"] else { return Action(id: id, title: title, takesText: false) }
            guard let takesText = input.boolean else { throw WrongMember() }
            return Action(id: id, title: title, takesText: takesText)
        }
        guard Set(actions.map(\.id)).count == actions.count else { throw WrongMember() }
        return actions
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

/// A member has a wrong type or is too long.
private struct WrongMember: Error {}

extension StrictJSON {
    /// A member that is a string; `nil` if there is none.
    ///
    /// - Parameter length: in bytes of UTF-8.
    fileprivate func text(_ name: String, _ length: ClosedRange<Int>) throws -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.text, length.contains(text.utf8.count) else { throw WrongMember() }
        return text
    }
}

extension PushMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, so that no log shows the message.
    public var description: String { "message" }
    /// The same as ``description``, so that a debugger shows no secret.
    public var debugDescription: String { description }
    /// No children, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
