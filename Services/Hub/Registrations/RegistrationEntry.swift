import Domain
import Foundations

/// A registration on a hub.
struct RegistrationEntry: Sendable {
    /// The expiration time in the response to a create or update. Reads and lists add a `Z`, also recorded.
    static let never = "9999-12-31T23:59:59.999"

    let id: String
    /// Incremented by each change; the ETag contains it.
    var version = 1
    let format: NotificationFormat
    let isTemplate: Bool
    let tags: [String]
    /// The device's ID at the platform's push service.
    let handle: String
    /// The elements of the description that the client sets, unknown ones too, in the order of the .NET client.
    let fields: [XMLElement]
    let updatedAt: Timestamp
    /// The place in lists, the same after updates.
    var sequence = 0
    /// As the service writes it; only an installation can limit it.
    var expirationTime = RegistrationEntry.never
    /// The installation that it is a part of.
    var installationID: String?
    /// See ``HubRegistrationRow/pushKey``.
    var pushKey: String?

    /// - Parameter isInOrder: whether the fields are in their order already, as stored ones are.
    init(
        id: String, format: NotificationFormat, isTemplate: Bool, tags: [String], handle: String, fields: [XMLElement],
        updatedAt: Timestamp, isInOrder: Bool = false
    ) {
        self.id = id
        self.format = format
        self.isTemplate = isTemplate
        self.tags = tags
        self.handle = handle
        self.fields = isInOrder ? fields : Self.inOrder(fields, format: format)
        self.updatedAt = updatedAt
    }

    var lowercasedTags: Set<String> { Set(tags.map { $0.lowercased() }) }

    var entityTag: String { "W/\"\(version)\"" }

    /// The name of the description's element.
    private var elementName: String {
        format.descriptionPrefix + (isTemplate ? "Template" : "") + "RegistrationDescription"
    }

    /// The format of the sends that reach it: template sends reach template registrations of all platforms, and no
    /// others.
    var audience: NotificationFormat { isTemplate ? .template : format }

    func field(_ name: String) -> String? {
        fields.first { $0.name == name || $0.name.lowercased() == name.lowercased() }?.text
    }

    /// The elements of a response. Recorded: a template without a name says so, and Apple's without an expiry too.
    private var writtenFields: [XMLElement] {
        guard isTemplate else { return fields }
        let names = format == .apple ? ["Expiry", "TemplateName"] : ["TemplateName"]
        let absent = names.filter { field($0) == nil }.map { XMLElement.nil($0, namespace: XMLNamespace.connect) }
        return absent.isEmpty ? fields : Self.inOrder(fields + absent, format: format)
    }

    /// The registration in a response.
    ///
    /// - Parameters:
    ///   - isStored: whether it is the response to a create or update, and not to a read.
    ///   - path: where its URLs are: the list that it is in.
    func entry(isStored: Bool, path: String = "registrations", call: HubCall) -> AtomEntry {
        let expiration = expirationTime + (expirationTime == Self.never && !isStored ? "Z" : "")
        var content =
            "<ETag>\(version)</ETag><ExpirationTime>\(XMLWriter.escape(expiration))</ExpirationTime>"
            + "<RegistrationId>\(XMLWriter.escape(id))</RegistrationId>"
        if !tags.isEmpty { content += "<Tags>\(XMLWriter.escape(tags.joined(separator: ",")))</Tags>" }
        for field in writtenFields {
            if field.name == "BodyTemplate" {
                content += "<BodyTemplate>\(XMLWriter.characterData(field.text))</BodyTemplate>"
            } else {
                XMLWriter.write(field, parentNamespace: XMLNamespace.connect, to: &content)
            }
        }
        return AtomEntry(
            url: call.requestLocation("\(path)/\(id)"), title: id, publishedAt: updatedAt, updatedAt: updatedAt,
            version: version, element: elementName, content: content)
    }
}

// MARK: Reading

extension RegistrationEntry {
    /// The elements that only the hub sets.
    private static let ownedElements: Set<String> = ["ETag", "ExpirationTime", "RegistrationId", "Tags"]
    private static let maxTemplateNameLength = 200
    private static let formatsByPrefix = Dictionary(
        uniqueKeysWithValues: NotificationFormat.platforms.map { ($0.descriptionPrefix, $0) })

    /// Reads the Atom entry of a create or update request.
    ///
    /// - Throws: 400 with the reason.
    init(id: String, entry bytes: [UInt8], receivedAt: Timestamp) throws(HubError) {
        guard let description = try AtomEntry.content(of: bytes)?.children.first else {
            throw HubError.badRequest("The body is not an Atom entry with a registration description.")
        }
        try self.init(id: id, description: description, receivedAt: receivedAt)
    }

    /// Reads the description of a registration.
    ///
    /// - Throws: 400 with the reason.
    init(id: String, description: XMLElement, receivedAt: Timestamp) throws(HubError) {
        let (format, isTemplate) = try Self.kind(of: Self.typeName(of: description))
        let fields = description.children.filter { !Self.ownedElements.contains($0.name) && !$0.isNil }
            .map { Self.upperCasingToken($0, format: format) }
        let tags = try TagSyntax.list(description.child("Tags")?.text ?? "")
        self.init(
            id: id, format: format, isTemplate: isTemplate, tags: tags,
            handle: try Self.handle(in: fields, format: format), fields: fields, updatedAt: receivedAt)
        if isTemplate {
            guard let body = field("BodyTemplate"), !body.isEmpty else {
                throw HubError.badRequest("A template registration needs a BodyTemplate.")
            }
            guard (field("TemplateName") ?? "").count <= Self.maxTemplateNameLength else {
                throw HubError.badRequest("The TemplateName is longer than 200 characters.")
            }
        }
    }

    /// The type of a description: the element's name, or the `i:type` of the base element (.NET and azure-sb).
    static func typeName(of description: XMLElement) -> String {
        guard description.name == "RegistrationDescription",
            let type = description.attribute("type", namespace: XMLNamespace.instance)
        else { return description.name }
        // A qualified name; its prefix means the element's own namespace.
        return String(type.split(separator: ":").last ?? "").filter { !$0.isWhitespace }
    }

    private static func kind(of element: String) throws(HubError) -> (NotificationFormat, Bool) {
        let suffix = "RegistrationDescription"
        guard element.hasSuffix(suffix) else {
            throw HubError.badRequest("The entry has no registration description.")
        }
        let prefix = String(element.dropLast(suffix.count))
        if let format = formatsByPrefix[prefix] { return (format, false) }
        if prefix.hasSuffix("Template"), let format = formatsByPrefix[String(prefix.dropLast(8))] {
            return (format, true)
        }
        throw HubError.badRequest("The registration description is of an unknown platform.")
    }

    private static func handle(in fields: [XMLElement], format: NotificationFormat) throws(HubError) -> String {
        let parts = format.handleFields.map { name in fields.first { $0.name == name }?.text ?? "" }
        guard !parts.contains("") else {
            throw HubError.badRequest("The registration lacks \(format.handleFields.joined(separator: ", ")).")
        }
        // The endpoint identifies a browser; Baidu needs both user and channel.
        let handle = format == .baidu ? parts.joined(separator: "-") : parts[0]
        guard handle.utf8.count <= Device.maxHandleBytes else { throw Device.handleTooLong }
        return handle
    }

    /// The service keeps Apple's tokens in upper case, and clients search for them so.
    private static func upperCasingToken(_ field: XMLElement, format: NotificationFormat) -> XMLElement {
        guard format == .apple, field.name == "DeviceToken" else { return field }
        return XMLElement(field.name, namespace: field.namespace, text: field.text.uppercased())
    }

    /// The elements in the order of the .NET client, which reads by position and skips misplaced ones. Unknown ones are
    /// last.
    private static func inOrder(_ fields: [XMLElement], format: NotificationFormat) -> [XMLElement] {
        let order = ["PushVariables"] + format.handleFields + orderedElements
        return order.flatMap { name in fields.filter { $0.name == name } }
            + fields.filter { !order.contains($0.name) }
    }

    private static let orderedElements = [
        "SecondaryTileName", "BodyTemplate", "WnsHeaders", "MpnsHeaders", "Expiry", "TemplateName", "MessageType",
        "Priority", "ApnsHeaders",
    ]
}

/// Registration IDs in the service's shape, `1493776553344450975-2363723502764053081-2`.
enum RegistrationID {
    static func make() -> String {
        "\(Int64.random(in: 1_000_000_000_000_000_000...Int64.max))-"
            + "\(Int64.random(in: 1_000_000_000_000_000_000...Int64.max))-\(Int.random(in: 1...9))"
    }

    /// Whether a client's own ID is valid: short, and without special characters. An ID of dots only is invalid because
    /// many programs interpret such a path.
    static func isValid(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= 256 && !id.allSatisfy { $0 == "." }
            && id.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
                default: false
                }
            }
    }
}
