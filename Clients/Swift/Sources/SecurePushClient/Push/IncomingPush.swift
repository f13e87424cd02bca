public import Foundation
import SecurePushEnvelope

/// A push, read but not yet believed: the client verifies its signature before it acts on it.
///
/// Make it where the system hands over the push, and pass it to ``SecurePushClient/handle(push:)``. Reading never fails
/// and never traps. Only the ID, the withdrawal, the time and the signature are read; hosts and texts in a push are
/// ignored.
public struct IncomingPush: Sendable, Hashable {
    /// Whether the push is for this SDK: it has the member `secureId`, or is raw text.
    /// ``SecurePushClient/handle(push:)`` ignores others, which belong to another part of the app.
    public let isSecurePush: Bool
    /// The notification's ID; `nil` if it cannot be used.
    public let id: PushID?
    /// Whether the push asks to remove the notification.
    public let isWithdrawal: Bool
    /// `ts`, as the push has it.
    let timestamp: String?
    /// `sig`, as the push has it.
    let signature: String?

    /// Longer pushes are refused unread, in bytes. Apple and Google allow 4,096, Windows 5,120.
    public static let maxBytes = 8 << 10

    /// Reads a push of Apple: the `userInfo` of the app delegate or of the notification's content.
    public init(userInfo: [AnyHashable: Any]) {
        self = Self.read { userInfo[$0] }
    }

    /// Reads a push of Firebase or Amazon: the `data` of the message.
    public init(data: [String: String]) {
        self = Self.read { data[$0] }
    }

    /// Reads a raw notification of Windows: `ID`, `ID ts sig`, `ID withdraw` or `ID withdraw ts sig`.
    public init(raw: String) {
        self = Self.read(raw: raw)
    }

    /// Reads a push of a browser: a JSON object.
    public init(json: Data) {
        guard json.count <= Self.maxBytes, let object = try? StrictJSON(json), object.members != nil else {
            self = .unusable
            return
        }
        // A member that is no string is there all the same.
        self = Self.read { name in object[name].map { value -> Any in value.text.map { $0 as Any } ?? NSNull() } }
    }

    private init(
        isSecurePush: Bool, id: PushID? = nil, isWithdrawal: Bool = false, timestamp: String? = nil,
        signature: String? = nil
    ) {
        self.isSecurePush = isSecurePush
        self.id = id
        self.isWithdrawal = isWithdrawal
        self.timestamp = timestamp
        self.signature = signature
    }

    private static let unusable = IncomingPush(isSecurePush: true)

    /// Reads the members of a push. All values are strings; others make the push unusable.
    private static func read(_ member: (String) -> Any?) -> IncomingPush {
        guard let secureID = member("secureId") else { return IncomingPush(isSecurePush: false) }
        let withdraw = member("withdraw")
        guard let id = (secureID as? String).flatMap({ PushID($0) }),
            withdraw == nil || withdraw as? String == "1"
        else { return unusable }
        return IncomingPush(
            isSecurePush: true, id: id, isWithdrawal: withdraw != nil, timestamp: short(member("ts")),
            signature: short(member("sig")))
    }

    private static func read(raw: String) -> IncomingPush {
        guard raw.utf8.count <= maxBytes else { return unusable }
        // Bytes: to Swift, a blank and an accent after it are one character.
        var line = Array(raw.utf8)
        if line.last == UInt8(ascii: "\n") { line.removeLast(raw.hasSuffix("\r\n") ? 2 : 1) }
        var words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard let id = words.first.flatMap({ PushID($0) }) else { return unusable }
        words.removeFirst()
        let isWithdrawal = words.first == "withdraw"
        if isWithdrawal { words.removeFirst() }
        switch words.count {
        case 0: return IncomingPush(isSecurePush: true, id: id, isWithdrawal: isWithdrawal)
        case 2:
            return IncomingPush(
                isSecurePush: true, id: id, isWithdrawal: isWithdrawal, timestamp: short(words[0]),
                signature: short(words[1]))
        default: return unusable
        }
    }

    /// A text that can be a time or a signature. A longer one is neither and is not kept.
    private static func short(_ value: Any?) -> String? {
        guard let text = value as? String, text.utf8.count <= 128 else { return nil }
        return text
    }
}
