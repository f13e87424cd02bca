import Foundation

/// A page of `GET /api/installations`. The push channels in it are secrets, and are not kept.
struct DevicesAnswer: Sendable {
    let devices: [RegisteredDevice]
    /// Whether there is another page.
    let hasNext: Bool

    /// Reads the answer.
    ///
    /// - Parameter own: the ID of this device.
    /// - Throws: ``InvalidAnswer``.
    init(_ data: Data, own: String?) throws(InvalidAnswer) {
        do {
            (devices, hasNext) = try AnswerReader.read(data) { reader, span in
                let members = try reader.members(span)
                guard let list = members["Installations"] else { throw AnswerReader.Malformed() }
                let devices = try reader.elements(list, atMost: Self.maxEntries).map { element in
                    let members = try reader.members(element)
                    guard let id = try members["installationId"].map(reader.string), Self.isID(id),
                        let platform = try members["platform"].map(reader.string)
                    else { throw AnswerReader.Malformed() }
                    return RegisteredDevice(
                        id: id, platform: platform, lastSeenAt: try members["LastSeenAt"].flatMap(reader.date),
                        isThisDevice: id == own)
                }
                return (devices, members["Next"] != nil)
            }
        } catch {
            throw InvalidAnswer(code: .malformedAnswer)
        }
    }

    /// The ID becomes a part of a path: 1 to 128 of `A-Z a-z 0-9 - _ .`, not only dots.
    private static func isID(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...128).contains(bytes.count) && bytes.contains { $0 != UInt8(ascii: ".") }
            && bytes.allSatisfy { $0 == UInt8(ascii: ".") || PushID.isAllowed($0) }
    }

    /// The most that the server sends on a page.
    static let maxEntries = 100
}

extension AnswerReader {
    /// A time of RFC 3339 with thousandths of a second, as the server writes it; `nil` for another text.
    func date(_ span: Range<Int>) throws -> Date? {
        try? Date(string(span), strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
