import Foundation
import Foundations
import HTTPTypes

/// A registration in the state file.
struct StoredRegistration: Codable {
    private let id: String
    private let version: Int
    private let sequence: Int
    private let format: String
    private let isTemplate: Bool
    private let tags: [String]
    private let handle: String
    private let updatedAtMilliseconds: Int64
    private let expirationTime: String
    /// An XML element that contains those of the description.
    private let fields: String

    /// The range of counters that cannot overflow later.
    private static let countRange = 1...(1 << 53)

    static func encode(_ registration: RegistrationEntry) -> [UInt8] {
        var fields = "<fields xmlns=\"\(XMLNamespace.connect)\" xmlns:i=\"\(XMLNamespace.instance)\">"
        for field in registration.fields { XMLWriter.write(field, parentNamespace: XMLNamespace.connect, to: &fields) }
        let stored = StoredRegistration(
            id: registration.id, version: registration.version, sequence: registration.sequence,
            format: registration.format.rawValue, isTemplate: registration.isTemplate, tags: registration.tags,
            handle: registration.handle, updatedAtMilliseconds: registration.updatedAt.milliseconds,
            expirationTime: registration.expirationTime, fields: fields + "</fields>")
        return (try? JSONEncoder().encode(stored)).map { Array($0) } ?? []
    }

    /// Nil when it is damaged.
    static func decode(_ bytes: [UInt8]) -> RegistrationEntry? {
        guard let stored = try? JSONDecoder().decode(StoredRegistration.self, from: Data(bytes)),
            let format = NotificationFormat(rawValue: stored.format),
            let fields = try? XMLReader.read(Array(stored.fields.utf8)).children,
            countRange.contains(stored.version), countRange.contains(stored.sequence),
            Timestamp.supported.contains(Timestamp(milliseconds: stored.updatedAtMilliseconds))
        else { return nil }
        var registration = RegistrationEntry(
            id: stored.id, format: format, isTemplate: stored.isTemplate, tags: stored.tags, handle: stored.handle,
            fields: fields, updatedAt: Timestamp(milliseconds: stored.updatedAtMilliseconds))
        registration.version = stored.version
        registration.sequence = stored.sequence
        registration.expirationTime = stored.expirationTime
        return registration
    }
}

/// A scheduled send in the state file.
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
            headers: Data(send.headers.packed), body: Data(send.body), dueAtMilliseconds: send.dueAt.milliseconds)
        return (try? JSONEncoder().encode(stored)).map { Array($0) } ?? []
    }

    /// Nil when it is damaged.
    static func decode(_ bytes: [UInt8]) -> ScheduledSend? {
        guard let stored = try? JSONDecoder().decode(StoredSchedule.self, from: Data(bytes)),
            let format = NotificationFormat(rawValue: stored.format),
            let headers = HTTPFields(packed: Array(stored.headers)),
            Timestamp.supported.contains(Timestamp(milliseconds: stored.dueAtMilliseconds))
        else { return nil }
        return ScheduledSend(
            id: stored.id, hub: stored.hub, format: format, tags: stored.tags, headers: headers,
            body: Array(stored.body), dueAt: Timestamp(milliseconds: stored.dueAtMilliseconds))
    }
}

extension HTTPFields {
    /// The form of headers in the state file: each name and value after its length in two bytes.
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

extension InstallationTable.Entry {
    /// The installation in the state file: JSON of its document and the IDs of its registrations.
    var stateDocument: [UInt8] {
        let document = JSONValue([
            "installation": installation.json, "registrations": JSONValue(registrationIDs, JSONValue.string),
        ])
        return Array(document.json.utf8)
    }

    /// Reads ``stateDocument``.
    ///
    /// - Throws: 400 when it is damaged.
    init(id: String, stateDocument bytes: [UInt8]) throws(HubError) {
        guard let document = try? JSONValue(bytes), let installation = document["installation"] else {
            throw HubError.badRequest("The stored installation cannot be read.")
        }
        self.installation = try HubInstallation(id: id, object: installation)
        registrationIDs = (document["registrations"]?.members ?? []).reduce(into: [:]) { $0[$1.name] = $1.value.text }
    }
}
