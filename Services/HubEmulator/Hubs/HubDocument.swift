/// The Atom answers about hubs, with elements as recorded.
enum HubDocument {
    static func entry(_ hub: HubSummary, call: HubCall) -> String {
        var output = ""
        write(hub, url: call.requestLocation(""), namespace: call.namespaceName, to: &output)
        return output
    }

    /// - Parameter path: of the feed, below the namespace.
    static func feed(_ hubs: [HubSummary], path: String, call: HubCall) -> String {
        let url = XMLWriter.escape(call.requestLocation(path))
        var output =
            "<feed xmlns=\"\(XMLNamespace.atom)\"><title type=\"text\">NotificationHubs</title><id>\(url)</id>"
            + "<updated>\(WireTime.now.rfc3339Seconds)</updated><link rel=\"self\" href=\"\(url)\"/>"
        for hub in hubs {
            write(hub, url: call.location(hub.name.pathEscaped), namespace: call.namespaceName, to: &output)
        }
        return output + "</feed>"
    }

    static func write(_ hub: HubSummary, url: String, namespace: String, to output: inout String) {
        let url = XMLWriter.escape(url)
        let description = hub.description
        output +=
            "<entry xmlns=\"\(XMLNamespace.atom)\"><id>\(url)</id>"
            + "<title type=\"text\">\(XMLWriter.escape(hub.name))</title>"
            + "<published>\(description.createdAt.rfc3339Seconds)</published>"
            + "<updated>\(description.updatedAt.rfc3339Seconds)</updated>"
            + "<author><name>\(XMLWriter.escape(namespace))</name></author><link rel=\"self\" href=\"\(url)\"/>"
            + "<content type=\"application/xml\"><\(HubDescription.elementName) xmlns=\"\(XMLNamespace.connect)\""
            + " xmlns:i=\"\(XMLNamespace.instance)\">"
        for field in description.fields {
            XMLWriter.write(field, parentNamespace: XMLNamespace.connect, to: &output)
        }
        output += "</\(HubDescription.elementName)></content></entry>"
    }
}
