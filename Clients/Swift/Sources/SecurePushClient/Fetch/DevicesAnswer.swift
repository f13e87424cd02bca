import Foundation
import SecurePushEnvelope

/// A page of `GET /api/installations`. The push channels in it are secrets, and are not kept.
struct DevicesAnswer: Sendable {
    let devices: [UserDevice]
    /// Whether there is another page.
    let hasNext: Bool

    /// Reads the answer.
    ///
    /// - Parameter own: the ID of this device.
    /// - Throws: ``InvalidAnswer``.
    init(_ data: Data, own: String?) throws(InvalidAnswer) {
        (devices, hasNext) = try AnswerObject.read(data) { answer in
            let devices = try answer.elements("Installations", atMost: Self.maxEntries).map { entry in
                let id = try AnswerObject.require(
                    entry.text("installationId").flatMap { UserDevice.isID($0) ? $0 : nil })
                return UserDevice(
                    id: id, platform: try AnswerObject.require(entry.text("platform")),
                    lastSeenAt: entry.date("LastSeenAt"), isThisDevice: UserDevice.isSame(id, own))
            }
            return (devices, answer["Next"] != nil)
        }
    }

    /// The most that the server sends on a page.
    static let maxEntries = 100
}
