import Foundation
import Foundations

/// An Atom entry of the hub (RFC 4287), elements in the recorded order: the .NET client reads by position.
struct AtomEntry {
    static let contentType = "application/atom+xml; type=entry; charset=utf-8"
    static let feedContentType = "application/atom+xml; type=feed; charset=utf-8"

    /// The ID and the link to itself.
    let url: String
    let title: String
    let publishedAt: Timestamp
    let updatedAt: Timestamp
    var author: String?
    /// The version of a registration.
    var version: Int?
    /// The name of the content's element.
    let element: String
    /// The XML inside of the content's element, with the prefix `i` for ``XMLNamespace/instance``.
    let content: String

    var text: String {
        let url = XMLWriter.escape(url)
        let tag = version.map { " a:etag=\"W/&quot;\($0)&quot;\"" } ?? ""
        let prefix = version == nil ? "" : " xmlns:a=\"\(XMLNamespace.metadata)\""
        let author = author.map { "<author><name>\(XMLWriter.escape($0))</name></author>" } ?? ""
        return "<entry\(tag) xmlns=\"\(XMLNamespace.atom)\"\(prefix)><id>\(url)</id>"
            + "<title type=\"text\">\(XMLWriter.escape(title))</title>"
            + "<published>\(publishedAt.rfc3339Seconds)</published><updated>\(updatedAt.rfc3339Seconds)</updated>"
            + "\(author)<link rel=\"self\" href=\"\(url)\"/><content type=\"application/xml\"><\(element)"
            + " xmlns=\"\(XMLNamespace.connect)\" xmlns:i=\"\(XMLNamespace.instance)\">\(content)</\(element)>"
            + "</content></entry>"
    }

    /// - Parameter next: the URL of the page that follows.
    static func feed(_ title: String, url: String, next: String? = nil, _ entries: [AtomEntry]) -> String {
        let url = XMLWriter.escape(url)
        let next = next.map { "<link rel=\"next\" href=\"\(XMLWriter.escape($0))\"/>" } ?? ""
        let head =
            "<feed xmlns=\"\(XMLNamespace.atom)\"><title type=\"text\">\(title)</title><id>\(url)</id>"
            + "<updated>\(Timestamp.now.rfc3339Seconds)</updated><link rel=\"self\" href=\"\(url)\"/>\(next)"
        return entries.reduce(into: head) { $0 += $1.text } + "</feed>"
    }

    /// The feed of Azure Service Bus that lists the hubs of a namespace, by name and address only.
    ///
    /// The hub's API answers with it at the root, and with an empty one in place of a hub that does not exist.
    static func publicFeed(_ services: [(title: String, url: String)] = []) -> String {
        let id = "uuid:\(UUID().uuidString.lowercased())"
        let updated = "<updated>\(Timestamp.now.rfc3339Seconds)</updated>"
        let head =
            "<feed xmlns=\"\(XMLNamespace.atom)\"><title type=\"text\">Publicly Listed Services</title>"
            + "<subtitle type=\"text\">This is the list of publicly-listed services currently available.</subtitle>"
            + "<id>\(id);id=1</id>\(updated)<generator>Service Bus 1.1</generator>"
        return services.enumerated().reduce(into: head) { feed, service in
            let (title, url) = service.element
            feed +=
                "<entry><id>\(id);id=\(service.offset + 2)</id><title type=\"text\">\(XMLWriter.escape(title))</title>"
                + "\(updated)<link rel=\"alternate\" href=\"\(XMLWriter.escape(url))\"/></entry>"
        } + "</feed>"
    }

    /// The `content` element of an entry in a request.
    ///
    /// - Returns: nil when the document is not an Atom entry with a content.
    /// - Throws: 400 when the bytes are not XML.
    static func content(of bytes: [UInt8]) throws(HubError) -> XMLElement? {
        do {
            let root = try XMLReader.read(bytes)
            return root.name == "entry" && root.namespace == XMLNamespace.atom ? root.child("content") : nil
        } catch {
            throw HubError.badRequest(error.description)
        }
    }
}
