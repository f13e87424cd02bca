import Foundation
import Foundations
import HTTPTypes
import Storage

/// A send that waits for its time.
struct ScheduledSend: Sendable {
    let id: String
    let hub: String
    let format: NotificationFormat
    let tags: String?
    let headers: HTTPFields
    let body: [UInt8]
    let dueAt: Timestamp
    /// The effect of a fault, which was decided when the send was accepted.
    var fate: FaultEffect.Fate?
    /// The place of its record in the log; 0 after a restart.
    var sequence = 0
    /// The registrations up to this place have their pushes: a process delivered them, and ended.
    var place: Int64 = 0

    /// The hub's name in lower case.
    var hubKey: String { hub.lowercased() }
}

extension ScheduledSend {
    /// The stored form of the request.
    private struct Document: Codable {
        let hub: String
        let format: String
        let tags: String?
        let headers: HTTPFields
        let body: Data
    }

    var stored: HubSchedule {
        let document = Document(hub: hub, format: format.rawValue, tags: tags, headers: headers, body: Data(body))
        let request = (try? JSONEncoder().encode(document)).map { [UInt8]($0) } ?? []
        return HubSchedule(id: id, hub: hubKey, dueAt: dueAt, request: request)
    }

    /// Nil when it is damaged.
    init?(_ stored: HubSchedule) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(stored.request)),
            let format = NotificationFormat(rawValue: document.format)
        else { return nil }
        self.init(
            id: stored.id, hub: document.hub, format: format, tags: document.tags, headers: document.headers,
            body: [UInt8](document.body), dueAt: stored.dueAt)
        place = stored.place
    }
}
