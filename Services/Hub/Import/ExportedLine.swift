import Foundations

/// A line of an export: the description of a registration, alone or as the content of an Atom entry.
enum ExportedLine {
    case registration(RegistrationEntry)
    /// A part of an installation.
    case part(ExportedPart)
    case expired
    /// The name of a platform that the hub has no push service for.
    case otherPlatform(String)
    /// Why it cannot be imported, without its values.
    case bad(String)
    case blank

    private static let platforms = Set(PushPlatform.allCases.flatMap(\.formats))
    private static let suffix = "RegistrationDescription"

    /// - Parameters:
    ///   - exportedAt: used as the time at which the registration was written.
    ///   - problem: returns why the hub cannot push to the address of a registration.
    init(
        _ line: [UInt8], exportedAt: Timestamp, now: Timestamp, problem: (RegistrationEntry) -> String?
    ) {
        let text = line.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }
        // The declaration may stand on a line of its own: it ends with the only >.
        let isDeclaration = text.dropFirst().reversed().starts(with: "<?xml".utf8) && !text.dropFirst().contains(0x3E)
        guard !text.isEmpty, !isDeclaration else {
            self = .blank
            return
        }
        do {
            self = try Self.read(line, exportedAt: exportedAt, now: now, problem: problem)
        } catch {
            self = .bad(error.detail ?? "The line is not valid.")
        }
    }

    private static func read(
        _ line: [UInt8], exportedAt: Timestamp, now: Timestamp, problem: (RegistrationEntry) -> String?
    ) throws(HubError) -> ExportedLine {
        let description = try description(of: line)
        let type = RegistrationEntry.typeName(of: description)
        if let platform = otherPlatform(type) { return .otherPlatform(platform) }
        let expiration = try expiration(of: description)
        if let expiration, expiration < now { return .expired }
        guard let id = description.child("RegistrationId")?.text, RegistrationID.isValid(id) else {
            throw HubError.badRequest("The RegistrationId is missing or not valid.")
        }
        let registration = try RegistrationEntry(id: id, description: description, receivedAt: exportedAt)
        if let problem = problem(registration) { throw HubError.badRequest(problem) }
        return try ExportedPart(registration, expiration: description.child("ExpirationTime")?.text).map(Self.part)
            ?? .registration(registration)
    }

    private static func description(of line: [UInt8]) throws(HubError) -> XMLElement {
        let root: XMLElement
        do { root = try XMLReader.read(line) } catch { throw HubError.badRequest(error.description) }
        let content = root.name == "entry" && root.namespace == XMLNamespace.atom ? root.child("content") : nil
        let description = content?.children.first ?? root
        guard description.name.hasSuffix(suffix) else {
            throw HubError.badRequest("The line has no registration description.")
        }
        return description
    }

    /// `nil` for a platform of the hub.
    private static func otherPlatform(_ type: String) -> String? {
        guard type.hasSuffix(suffix) else { return nil }
        var prefix = type.dropLast(suffix.count)
        if prefix.hasSuffix("Template") { prefix = prefix.dropLast(8) }
        if let format = NotificationFormat.platforms.first(where: { $0.descriptionPrefix == prefix }) {
            return platforms.contains(format) ? nil : format.rawValue
        }
        return "unknown"
    }

    /// `nil`: never.
    private static func expiration(of description: XMLElement) throws(HubError) -> Timestamp? {
        guard let element = description.child("ExpirationTime"), !element.isNil, !element.text.hasPrefix("9999-12-31")
        else { return nil }
        guard let time = Timestamp(iso8601: element.text) else {
            throw HubError.badRequest("The ExpirationTime is not a time.")
        }
        return time
    }
}
