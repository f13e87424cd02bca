@testable import Hub

/// How a client of the reference writes its requests: what it signs, its headers in their order, its spellings.
struct ClientStyle: Sendable {
    let name: String
    /// How the description of its token in `TestToken.clients` begins.
    let tokenPrefix: String
    let version: String
    /// Header lines between `Host` and those of the body. `{TOKEN}` stands for the token.
    let headers: [String]
    /// The content types that it gives Atom entries, installations and patches.
    var entryType = "application/atom+xml;type=entry;charset=utf-8"
    var installationType = "application/json"
    var patchType = "application/json"
    /// What stands before an entry's root, and between the root and the content.
    var prolog = ""
    var entryHead = ""
    /// `If-Match` for version 1.
    var ifMatch = "*"
    /// `If-Match` for any version.
    var ifMatchAny = "*"
    var top = "$top"
    var filter = "$filter"
    /// A filter's value, encoded.
    var handleFilter = "ChannelUri+eq+%27AB12%27"
    var continuation = "continuationtoken"
    /// Whether it escapes a continuation token that is escaped already.
    var escapesContinuation = false
    /// The paths below the hub.
    var registrations = "/hub/registrations"
    var registrationIDs = "/hub/registrationids"
    var isChunked = false
    /// All header lines of a captured client in its order: by the content type it gives, its own lines, and the body's
    /// length. `{TOKEN}` and `{PORT}` are put in. Nil: ``headers`` behind `Host`, and then those of the body.
    var layout: (@Sendable (_ type: String?, _ own: [String], _ length: Int?) -> [String])?
    /// Whether it writes registrations as `RegistrationDescription` with an `i:type`.
    var typesRegistrations = false
    /// What it writes before a registration's other elements.
    var registrationHead = ""
    /// Between the names and the values of the entry's own attributes.
    var equals = "="

    var token: TestToken {
        TestToken.clients.first { $0.client.hasPrefix(tokenPrefix) } ?? TestToken(client: "plain")
    }

    /// An Atom entry as it writes one.
    func entry(_ element: String, _ inner: String) -> String {
        if typesRegistrations, element.hasSuffix("RegistrationDescription") {
            return "\(prolog)<entry xmlns\(equals)\"\(XMLNamespace.atom)\">\(entryHead)"
                + "<content type\(equals)\"application/xml\">"
                + "<RegistrationDescription xmlns:i=\"\(XMLNamespace.instance)\" i:type=\"\(element)\""
                + " xmlns=\"\(XMLNamespace.connect)\">\(registrationHead)\(inner)</RegistrationDescription></content>"
                + "</entry>"
        }
        return "\(prolog)<entry xmlns\(equals)\"\(XMLNamespace.atom)\">\(entryHead)"
            + "<content type\(equals)\"application/xml\">"
            + "<\(element) xmlns:i=\"\(XMLNamespace.instance)\" xmlns=\"\(XMLNamespace.connect)\">\(inner)</\(element)>"
            + "</content></entry>"
    }

    private static let dotNetAgent = "User-Agent: NHub/2020-06 (api-origin=DotNetSdk;os=Unix;os-version=6.18.44.669)"

    /// As captured from its own tests (4.2.0, on Mono): `Host` last, types of registrations in an attribute.
    static let dotNet = ClientStyle(
        name: "NET", tokenPrefix: ".NET", version: "2020-06", headers: [],
        entryType: "application/atom+xml; charset=utf-8; type=entry",
        installationType: "application/json; charset=utf-8", patchType: "application/json-patch+json; charset=utf-8",
        ifMatch: "\"1\"", ifMatchAny: "\"*\"",
        layout: { type, own, length in
            var lines = ["TrackingId: c87bb6bc-f22d-431b-bcb0-6ac532d5d4c9", "Authorization: {TOKEN}"]
            lines += own
            lines.append(dotNetAgent)
            if let type { lines.append("Content-Type: \(type)") }
            if let length { lines.append("Content-Length: \(length)") }
            return lines + ["Host: 127.0.0.1:{PORT}"]
        }, typesRegistrations: true, registrationHead: "<RegistrationId i:nil=\"true\" />")

    /// The part of it that manages hubs writes otherwise: blanks around `=`, and no content type.
    static let dotNetManagement = ClientStyle(
        name: "NET", tokenPrefix: ".NET", version: "2020-06", headers: [], entryType: "",
        prolog: "<?xml version=\"1.0\" encoding=\"utf-8\"?>", ifMatchAny: "*",
        layout: { _, own, length in
            var lines = ["Authorization: {TOKEN}", "x-ms-version: 2020-06"]
            lines += own
            lines += ["TrackingId: 739227e7-e35e-41f9-8deb-009a180168db", dotNetAgent]
            if let length { lines.append("Content-Length: \(length)") }
            return lines + ["Host: 127.0.0.1:{PORT}"]
        }, equals: " = ")

    static let java = ClientStyle(
        name: "JAVA", tokenPrefix: "Java", version: "2020-06",
        headers: [
            "Authorization: {TOKEN}", "TrackingId: 297c956c-c06b-4729-bc79-91e2bc6ed05c",
            "User-Agent: NHub/2020-06 (api-origin=JavaSDK;os=Linux;os-version=6.1)",
        ], entryType: "application/atom+xml", prolog: "<?xml version=\"1.0\" encoding=\"utf-8\"?>", ifMatch: "W/\"1\"",
        isChunked: true)

    static let javaScript = ClientStyle(
        name: "JS", tokenPrefix: "JS", version: "2020-06",
        headers: [
            "Accept-Encoding: gzip,deflate", "Authorization: {TOKEN}", "x-ms-version: 2020-06",
            "x-ms-azsdk-telemetry: class=NotificationHubsClient;method=x",
            "user-agent: azsdk-js-notificationhubs/1.2.2",
            "x-ms-client-request-id: 5f0e4a0c-0d64-4a73-93ee-6b8b1fb2b3ae", "Connection: keep-alive",
        ], prolog: "<?xml version=\"1.0\" encoding=\"utf-8\"?>", ifMatch: "\"1\"", top: "%24top", filter: "%24filter",
        handleFilter: "DeviceToken+eq+%27AB12%27", escapesContinuation: true)

    static let go = ClientStyle(
        name: "GO", tokenPrefix: "Go:", version: "2015-01",
        headers: ["User-Agent: Go-http-client/1.1", "Accept-Encoding: gzip", "Authorization: {TOKEN}"],
        patchType: "application/json-patch+json", prolog: "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n",
        entryHead: "\n  ", ifMatch: "1")

    static let go2 = ClientStyle(
        name: "GO2", tokenPrefix: "Go 2", version: "2020-06",
        headers: ["User-Agent: NHub/2020-06 (api-origin=GoSDK)", "Authorization: {TOKEN}", "Accept-Encoding: gzip"],
        installationType: "application/json-patch+json", patchType: "application/json-patch+json")

    /// As captured from its own test suites (0.10.6): a `host` without the port, and an empty content type where the
    /// caller gives none.
    static let azureSB = ClientStyle(
        name: "azure-sb", tokenPrefix: "azure-sb: sig", version: "2016-07", headers: [], entryType: "",
        prolog: "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>",
        entryHead: "<updated>2026-11-22T03:43:55.086Z</updated>", top: "%24top",
        filter: "%24filter", handleFilter: "DeviceToken%20eq%20'AB12'",
        layout: { type, own, length in
            let size = "content-length: \(length ?? 0)"
            var lines = own
            if let type, !type.isEmpty {
                lines += ["content-type: \(type)", size, "Accept-Charset: UTF-8"]
            } else {
                lines += ["Accept-Charset: UTF-8", "content-type: ", size]
            }
            lines += ["host: 127.0.0.1", "authorization: {TOKEN}"]
            return lines + ["user-agent: Azure-SDK-For-Node.js/0.9.27", "Connection: keep-alive"]
        }, typesRegistrations: true)

    /// The mobile SDKs: the newest of them put installations with a Listen key.
    static let device = ClientStyle(
        name: "device", tokenPrefix: "azure-sb: hub", version: "2017-04",
        headers: ["x-ms-version: 2015-01", "Authorization: {TOKEN}", "User-Agent: NOTIFICATIONHUBS/2014-01"])

    static let ruby = ClientStyle(
        name: "Ruby", tokenPrefix: "Ruby", version: "",
        headers: [
            "Accept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3", "Accept: */*", "User-Agent: Ruby",
            "Authorization: {TOKEN}",
        ])

    static let php = ClientStyle(
        name: "PHP", tokenPrefix: "PHP", version: "2013-10", headers: ["Accept: */*", "Authorization: {TOKEN}"],
        entryType: "application/atom+xml;type=entry;charset=utf-8", registrationIDs: "/hub/registrationIDs/")

    static let python = ClientStyle(
        name: "PY", tokenPrefix: "Python", version: "2015-04",
        headers: [
            "User-Agent: python-requests/2.32.3", "Accept-Encoding: gzip, deflate", "Accept: */*",
            "Connection: keep-alive",
            "Authorization: {TOKEN}",
        ])
}
