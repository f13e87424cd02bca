/// The hub's Atom answers, with elements in the recorded order: the .NET client reads by position.
enum AtomDocument {
    static let entryContentType = "application/atom+xml; type=entry; charset=utf-8"
    static let feedContentType = "application/atom+xml; type=feed; charset=utf-8"

    /// - Parameter isStored: whether it answers a create or update and not a read.
    static func entry(_ registration: Registration, isStored: Bool, call: HubCall) -> String {
        var output = ""
        writeEntry(registration, isStored: isStored, call: call, to: &output)
        return output
    }

    static func feed(_ registrations: [Registration], path: String, call: HubCall) -> String {
        let url = XMLWriter.escape(call.requestLocation(path))
        var output =
            "<feed xmlns=\"\(XMLNamespace.atom)\"><title type=\"text\">Registrations</title><id>\(url)</id>"
            + "<updated>\(WireTime.now.rfc3339Seconds)</updated><link rel=\"self\" href=\"\(url)\"/>"
        for registration in registrations { writeEntry(registration, isStored: false, call: call, to: &output) }
        return output + "</feed>"
    }

    private static func writeEntry(
        _ registration: Registration, isStored: Bool, call: HubCall, to output: inout String
    ) {
        let url = XMLWriter.escape(call.requestLocation("registrations/\(registration.id)"))
        let isNever = registration.expirationTime == Registration.never
        let expiration = registration.expirationTime + (isNever && !isStored ? "Z" : "")
        let id = XMLWriter.escape(registration.id)
        let time = registration.updatedAt.rfc3339Seconds
        output +=
            "<entry a:etag=\"W/&quot;\(registration.version)&quot;\" xmlns=\"\(XMLNamespace.atom)\""
            + " xmlns:a=\"\(XMLNamespace.metadata)\"><id>\(url)</id><title type=\"text\">\(id)</title>"
            + "<published>\(time)</published><updated>\(time)</updated><link rel=\"self\" href=\"\(url)\"/>"
            + "<content type=\"application/xml\">"
            + "<\(registration.elementName) xmlns=\"\(XMLNamespace.connect)\""
            + " xmlns:i=\"\(XMLNamespace.instance)\"><ETag>\(registration.version)</ETag>"
            + "<ExpirationTime>\(XMLWriter.escape(expiration))</ExpirationTime><RegistrationId>\(id)</RegistrationId>"
        if !registration.tags.isEmpty {
            output += "<Tags>\(XMLWriter.escape(registration.tags.joined(separator: ",")))</Tags>"
        }
        for field in registration.fields {
            if field.name == "BodyTemplate" {
                output += "<BodyTemplate>\(XMLWriter.characterData(field.text))</BodyTemplate>"
            } else {
                XMLWriter.write(field, parentNamespace: XMLNamespace.connect, to: &output)
            }
        }
        output += "</\(registration.elementName)></content></entry>"
    }
}
