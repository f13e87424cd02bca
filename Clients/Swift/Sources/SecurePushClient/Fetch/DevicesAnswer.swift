import Foundation
import SecurePushEnvelope

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
        (devices, hasNext) = try AnswerObject.read(data) { answer in
            let devices = try answer.elements("Installations", atMost: Self.maxEntries).map { entry in
                let id = try AnswerObject.require(entry.text("installationId").flatMap { Self.isID($0) ? $0 : nil })
                return RegisteredDevice(
                    id: id, platform: try AnswerObject.require(entry.text("platform")),
                    lastSeenAt: entry.date("LastSeenAt"), isThisDevice: id == own)
            }
            return (devices, answer["Next"] != nil)
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
