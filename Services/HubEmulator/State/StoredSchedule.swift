import Foundation
import HTTPTypes

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
            let headers = HTTPFields(packed: Array(stored.headers)),
            WireTime.range.contains(stored.dueAtMilliseconds)
        else { return nil }
        return ScheduledSend(
            id: stored.id, hubKey: stored.hub.lowercased(), hub: stored.hub, format: format, tags: stored.tags,
            headers: headers, body: Array(stored.body), dueAt: WireTime(milliseconds: stored.dueAtMilliseconds))
    }
}

/// The form of a header in the state file: for each field its name and its value, each after its length in two bytes.
extension HTTPFields {
    var packed: [UInt8] {
        flatMap { [$0.name.rawName, $0.value] }.flatMap { text in
            let bytes = text.utf8.prefix(Int(UInt16.max))
            return [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
        }
    }

    /// Reads ``packed`` again; nil when it is damaged.
    init?(packed: [UInt8]) {
        var texts: [String] = []
        var rest = packed[...]
        while let high = rest.popFirst() {
            guard let low = rest.popFirst() else { return nil }
            let length = Int(high) << 8 | Int(low)
            guard rest.count >= length else { return nil }
            texts.append(String(decoding: rest.prefix(length), as: UTF8.self))
            rest = rest.dropFirst(length)
        }
        guard texts.count.isMultiple(of: 2) else { return nil }
        self.init()
        for index in stride(from: 0, to: texts.count, by: 2) {
            guard let name = HTTPField.Name(texts[index]) else { return nil }
            append(HTTPField(name: name, value: texts[index + 1]))
        }
    }
}
