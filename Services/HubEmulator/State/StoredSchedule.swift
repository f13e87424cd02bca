import Foundation

/// A scheduled send as it stands in the state file.
struct StoredSchedule: Codable {
    private let id: String
    private let hub: String
    private let format: String
    private let tags: String?
    private let headers: Data
    private let body: Data
    private let dueAtMilliseconds: Int64

    static func encode(_ send: ScheduledSend) -> [UInt8] {
        let stored = StoredSchedule(
            id: send.id, hub: send.hub, format: send.format.rawValue, tags: send.tags,
            headers: Data(send.headers.packed),
            body: Data(send.body), dueAtMilliseconds: send.dueAt.milliseconds)
        return (try? JSONEncoder().encode(stored)).map { Array($0) } ?? []
    }

    /// Nil when it is damaged.
    static func decode(_ bytes: [UInt8]) -> ScheduledSend? {
        guard let stored = try? JSONDecoder().decode(StoredSchedule.self, from: Data(bytes)),
            let format = NotificationFormat(rawValue: stored.format),
            let headers = PackedHeaders(packed: stored.headers),
            WireTime.range.contains(stored.dueAtMilliseconds)
        else { return nil }
        return ScheduledSend(
            id: stored.id, hubKey: stored.hub.lowercased(), hub: stored.hub, format: format, tags: stored.tags,
            headers: headers, body: Array(stored.body), dueAt: WireTime(milliseconds: stored.dueAtMilliseconds))
    }
}
