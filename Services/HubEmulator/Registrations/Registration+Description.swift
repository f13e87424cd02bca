extension Registration {
    /// The elements that the hub sets itself, whatever a client sends.
    private static let ownedElements: Set<String> = ["ETag", "ExpirationTime", "RegistrationId", "Tags"]
    private static let maximumTemplateNameLength = 200
    private static let formatsByPrefix = Dictionary(
        uniqueKeysWithValues: NotificationFormat.platforms.map { ($0.descriptionPrefix, $0) })

    /// Reads the Atom entry of a create or update request.
    ///
    /// - Throws: 400 that says what is wrong.
    init(id: String, entry bytes: [UInt8], receivedAt: WireTime) throws(HubError) {
        let description = try Self.description(in: bytes)
        let (format, isTemplate) = try Self.kind(of: Self.typeName(of: description))
        let fields = description.children.filter { !Self.ownedElements.contains($0.name) && !$0.isNil }
        let tags = try TagSyntax.list(description.child("Tags")?.text ?? "")
        self.id = id
        self.version = 1
        self.format = format
        self.isTemplate = isTemplate
        self.tags = tags
        lowercasedTags = Set(tags.map { $0.lowercased() })
        self.fields = Self.inOrder(Self.upperCasingToken(fields, format: format), format: format)
        handle = try Self.handle(in: self.fields, format: format)
        updatedAt = receivedAt
        if isTemplate {
            guard let body = field("BodyTemplate"), !body.isEmpty else {
                throw HubError.badRequest("A template registration needs a BodyTemplate.")
            }
            guard (field("TemplateName") ?? "").count <= Self.maximumTemplateNameLength else {
                throw HubError.badRequest("The TemplateName is longer than 200 characters.")
            }
        }
    }

    private static func description(in bytes: [UInt8]) throws(HubError) -> XMLElement {
        let root: XMLElement
        do {
            root = try XMLReader.read(bytes)
        } catch {
            throw HubError.badRequest(error.description)
        }
        guard root.name == "entry", root.namespace == XMLNamespace.atom,
            let content = root.child("content"), let description = content.children.first
        else { throw HubError.badRequest("The body is not an Atom entry with a registration description.") }
        return description
    }

    /// The type of a description: the element's name, or the `i:type` of the base element, which .NET and azure-sb
    /// send.
    private static func typeName(of description: XMLElement) -> String {
        guard description.name == "RegistrationDescription",
            let type = description.attribute("type", namespace: XMLNamespace.instance)
        else { return description.name }
        // A qualified name: a prefix stands for the namespace, which is the element's own.
        return String(type.split(separator: ":").last ?? "").filter { !$0.isWhitespace }
    }

    private static func kind(of element: String) throws(HubError) -> (NotificationFormat, Bool) {
        let suffix = "RegistrationDescription"
        guard element.hasSuffix(suffix) else {
            throw HubError.badRequest("The entry holds no registration description.")
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
        // A browser is known by its endpoint alone; Baidu's user and channel only name a device together.
        let handle = format == .baidu ? parts.joined(separator: "-") : parts[0]
        guard handle.utf8.count <= Device.maxHandleBytes else { throw Device.handleTooLong }
        return handle
    }

    /// The service keeps Apple's tokens in upper case, and clients look for them so.
    private static func upperCasingToken(_ fields: [XMLElement], format: NotificationFormat) -> [XMLElement] {
        guard format == .apple else { return fields }
        return fields.map { field in
            guard field.name == "DeviceToken" else { return field }
            return XMLElement(field.name, namespace: field.namespace, text: field.text.uppercased())
        }
    }

    /// The elements in the order of the .NET client's contract, which reads by position: an element out of its place is
    /// lost there. Unknown ones come last.
    static func inOrder(_ fields: [XMLElement], format: NotificationFormat) -> [XMLElement] {
        let order = ["PushVariables"] + format.handleFields + orderedElements
        return order.flatMap { name in fields.filter { $0.name == name } }
            + fields.filter { !order.contains($0.name) }
    }

    private static let orderedElements = [
        "SecondaryTileName", "BodyTemplate", "WnsHeaders", "MpnsHeaders", "Expiry", "TemplateName", "MessageType",
        "Priority", "ApnsHeaders",
    ]
}
