public import Foundation

/// The content of an envelope, with the values that a device checks before it shows it.
public struct OpenedEnvelope: Sendable, Hashable {
    /// The sender's ID of the envelope. A device remembers it with the notification under which it came.
    public let id: UUID
    /// When it was made, in seconds since 1970.
    public let createdAt: Int
    /// When it expires, in seconds since 1970; `nil`: never.
    public let expiresAt: Int?
    /// The JSON text of the content, in UTF-8, as the sender wrote it.
    public let content: Data

    /// How far in the future an envelope may be made, in seconds.
    public static let maxAhead = 86_400
    /// How old an envelope may be, in seconds. Devices remember IDs as long.
    public static let maxAge = 7_776_000

    /// Reads the decrypted document. White space behind it is padding.
    init(_ document: Data) throws(EnvelopeError) {
        guard let json = try? StrictJSON(document), let id = json["id"]?.text, let uuid = Self.uuid(id),
            let createdAt = Self.seconds(json["at"]), let content = json["content"]
        else { throw .unopenable }
        var expiresAt: Int?
        if let value = json["exp"] {
            guard let seconds = Self.seconds(value) else { throw .unopenable }
            expiresAt = seconds
        }
        (self.id, self.createdAt, self.expiresAt, self.content) = (uuid, createdAt, expiresAt, content.json)
    }

    /// Whether it was made neither longer ago than ``maxAge`` nor later than ``maxAhead`` from now.
    ///
    /// - Parameter now: seconds since 1970, rounded down.
    public func isTimely(at now: Int) -> Bool { createdAt - now <= Self.maxAhead && now - createdAt <= Self.maxAge }

    /// The last checks.
    ///
    /// - Parameters:
    ///   - wasOpenedBefore: whether this device has opened ``id`` under another notification.
    ///   - now: seconds since 1970, rounded down.
    /// - Throws: ``EnvelopeError/replayed`` or ``EnvelopeError/expired``.
    public func verify(wasOpenedBefore: Bool, now: Int) throws(EnvelopeError) {
        guard isTimely(at: now), !wasOpenedBefore else { throw .replayed }
        if let expiresAt, expiresAt <= now { throw .expired }
    }

    /// A number of 1 to 12 digits.
    private static func seconds(_ json: StrictJSON?) -> Int? {
        guard let digits = json?.number, digits.utf8.count <= 12, digits.utf8.allSatisfy(isDigit) else { return nil }
        return Int(digits)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// A UUID of 8-4-4-4-12 hexadecimal digits.
    private static func uuid(_ text: String) -> UUID? {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        for (index, byte) in bytes.enumerated() {
            let isHyphen = [8, 13, 18, 23].contains(index)
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
            guard isHyphen ? byte == UInt8(ascii: "-") : isDigit(byte) || isLetter else { return nil }
        }
        return UUID(uuidString: text)
    }
}
