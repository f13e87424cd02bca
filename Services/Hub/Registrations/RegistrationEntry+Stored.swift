import Domain
import Foundations
import Storage

extension RegistrationEntry {
    /// Reads a stored registration; `nil` if the document is damaged.
    init?(_ stored: HubRegistrationRow) {
        guard let format = NotificationFormat(rawValue: stored.format) else { return nil }
        let isXML = stored.document.first == UInt8(ascii: "<")
        let document = isXML ? try? XMLReader.read(stored.document) : nil
        guard !isXML || document != nil else { return nil }
        let isPart = stored.installationID != nil
        self.init(
            id: stored.id, format: format, isTemplate: stored.isTemplate, tags: stored.tags, handle: stored.handle,
            fields: document?.children ?? Self.plainFields(format, stored.handle, stored.document),
            updatedAt: stored.updatedAt, isInOrder: true)
        version = Int(clamping: stored.version)
        sequence = Int(clamping: stored.sequence)
        installationID = stored.installationID
        pushKey = stored.pushKey
        expirationTime = document?.attribute(Self.expiration) ?? (isPart ? HubInstallation.never : Self.never)
    }

    /// Most devices have nothing but their handle, and browsers two keys: the document is empty, or has a line for each
    /// key. Others have the XML of their elements.
    var stored: HubRegistrationRow {
        let isUsual = expirationTime == (installationID == nil ? Self.never : HubInstallation.never)
        var document = fields.dropFirst().map(\.text).joined(separator: "\n")
        if !isUsual || document.hasPrefix("<") || fields != Self.plainFields(format, handle, Array(document.utf8)) {
            document = "<fields xmlns=\"\(XMLNamespace.connect)\" xmlns:i=\"\(XMLNamespace.instance)\""
            if !isUsual { document += " \(Self.expiration)=\"\(XMLWriter.escape(expirationTime))\"" }
            document += ">"
            for field in fields { XMLWriter.write(field, parentNamespace: XMLNamespace.connect, to: &document) }
            document += "</fields>"
        }
        return HubRegistrationRow(
            id: id, format: format.rawValue, isTemplate: isTemplate, tags: tags, handle: handle,
            installationID: installationID, updatedAt: updatedAt, document: Array(document.utf8))
    }

    private static let expiration = "expiration"

    /// - Parameter others: the texts of the elements after the handle's, in lines.
    private static func plainFields(_ format: NotificationFormat, _ handle: String, _ others: [UInt8]) -> [XMLElement] {
        let lines = others.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let texts = [handle] + (others.isEmpty ? [] : lines.map { String(decoding: $0, as: UTF8.self) })
        return zip(format.handleFields, texts).map { XMLElement($0, namespace: XMLNamespace.connect, text: $1) }
    }
}

extension HubCondition {
    /// Reads an `If-Match` header in the clients' spellings: `*`, `"*"` (.NET), `"1"`, `W/"1"`, `1`.
    init(ifMatch header: String?) {
        guard let header else {
            self = .none
            return
        }
        var tag = header.filter { $0 != " " }[...]
        if tag.hasPrefix("W/") || tag.hasPrefix("w/") { tag = tag.dropFirst(2) }
        let value = tag.filter { $0 != "\"" }
        self = value == "*" ? .any : Int64(value).map(Self.version) ?? .never
    }
}

extension HubChange {
    /// The registration as it is now, and as it was before.
    ///
    /// - Throws: 404, 410 or 412.
    func get() throws(HubError) -> (stored: RegistrationEntry?, former: RegistrationEntry?) {
        switch self {
        case .done(let stored, let former): (RegistrationEntry(stored), former.flatMap(RegistrationEntry.init))
        case .unknown: throw HubError.unknownRegistration
        case .conflict: throw HubError.entityTagMismatch
        case .retired: throw HubError.registrationGone
        }
    }
}

extension HubAudience {
    /// The registrations that a send reaches.
    init(of format: NotificationFormat, _ expression: TagExpression?) {
        let sets = expression?.tagSets ?? []
        guard let expression, expression.alternatives == nil else {
            self.init(formats: [format.rawValue], tagSets: sets)
            return
        }
        self.init(formats: [format.rawValue], tagSets: sets) { expression.matches($0) }
    }

    /// All registrations of a hub, or those with a tag.
    init(ofAllWith tag: String? = nil) {
        self.init(formats: NotificationFormat.allCases.map(\.rawValue), tagSets: tag.map { [[$0.lowercased()]] } ?? [])
    }
}
