import Foundation

/// A registration as it stands in the state file.
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
    /// The elements of the description, inside of one.
    private let fields: String

    /// What counts up from 1: no file makes it overflow.
    private static let countRange = 1...(1 << 53)

    static func encode(_ registration: Registration) -> [UInt8] {
        var fields = "<fields xmlns=\"\(XMLNamespace.connect)\" xmlns:i=\"\(XMLNamespace.instance)\">"
        for field in registration.fields { XMLWriter.write(field, parentNamespace: XMLNamespace.connect, to: &fields) }
        let stored = StoredRegistration(
            id: registration.id, version: registration.version, sequence: registration.sequence,
            format: registration.format.rawValue, isTemplate: registration.isTemplate, tags: registration.tags,
            handle: registration.handle, updatedAtMilliseconds: registration.updatedAt.milliseconds,
            expirationTime: registration.expirationTime,
            fields: fields + "</fields>")
        return (try? JSONEncoder().encode(stored)).map { Array($0) } ?? []
    }

    /// Nil when it is damaged.
    static func decode(_ bytes: [UInt8]) -> Registration? {
        guard let stored = try? JSONDecoder().decode(StoredRegistration.self, from: Data(bytes)),
            let format = NotificationFormat(rawValue: stored.format),
            let fields = try? XMLReader.read(Array(stored.fields.utf8)).children,
            countRange.contains(stored.version), countRange.contains(stored.sequence),
            WireTime.range.contains(stored.updatedAtMilliseconds)
        else { return nil }
        var registration = Registration(
            id: stored.id, version: stored.version, format: format, isTemplate: stored.isTemplate, tags: stored.tags,
            lowercasedTags: Set(stored.tags.map { $0.lowercased() }), handle: stored.handle, fields: fields,
            updatedAt: WireTime(milliseconds: stored.updatedAtMilliseconds), sequence: stored.sequence)
        registration.expirationTime = stored.expirationTime
        return registration
    }
}
