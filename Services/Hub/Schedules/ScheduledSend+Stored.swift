import Foundation
import Foundations
import HTTPTypes
import Storage

extension ScheduledSend {
    /// The stored form of the request.
    private struct Document: Codable {
        let hub: String
        let format: String
        let tags: String?
        let headers: Data
        let body: Data
    }

    var stored: HubSchedule {
        let document = Document(
            hub: hub, format: format.rawValue, tags: tags, headers: Data(headers.packed), body: Data(body))
        let request = (try? JSONEncoder().encode(document)).map { [UInt8]($0) } ?? []
        return HubSchedule(id: id, hub: hubKey, dueAt: dueAt, request: request)
    }

    /// Nil when it is damaged.
    init?(_ stored: HubSchedule) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(stored.request)),
            let format = NotificationFormat(rawValue: document.format),
            let headers = HTTPFields(packed: [UInt8](document.headers))
        else { return nil }
        self.init(
            id: stored.id, hub: document.hub, format: format, tags: document.tags, headers: headers,
            body: [UInt8](document.body), dueAt: stored.dueAt)
        place = stored.place
    }
}

extension HTTPFields {
    /// Each name and value after its length in two bytes.
    var packed: [UInt8] {
        flatMap { [$0.name.rawName, $0.value] }.flatMap { text in
            let bytes = text.utf8.prefix(Int(UInt16.max))
            return [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
        }
    }

    /// Reads ``packed``; nil when it is damaged.
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
