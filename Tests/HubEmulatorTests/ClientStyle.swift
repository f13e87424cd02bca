@testable import HubEmulator

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

    var token: TestToken {
        TestToken.clients.first { $0.client.hasPrefix(tokenPrefix) } ?? TestToken(client: "plain")
    }

    /// An Atom entry as it writes one.
    func entry(_ element: String, _ inner: String) -> String {
        "\(prolog)<entry xmlns=\"\(XMLNamespace.atom)\">\(entryHead)<content type=\"application/xml\">"
            + "<\(element) xmlns:i=\"\(XMLNamespace.instance)\" xmlns=\"\(XMLNamespace.connect)\">\(inner)</\(element)>"
            + "</content></entry>"
    }

    static let dotNet = ClientStyle(
        name: "NET", tokenPrefix: ".NET", version: "2020-06",
        headers: [
            "TrackingId: 7f195ef5-b950-46ab-bdaa-e07cd5a203cf", "Authorization: {TOKEN}",
            "User-Agent: NHub/2020-06 (api-origin=DotNetSdk;os=Linux;os-version=6.1)",
        ], entryType: "application/atom+xml; charset=utf-8; type=entry",
        installationType: "application/json; charset=utf-8", patchType: "application/json-patch+json; charset=utf-8",
        ifMatch: "\"1\"")

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

    static let azureSB = ClientStyle(
        name: "azure-sb", tokenPrefix: "azure-sb: sig", version: "2013-07",
        headers: ["authorization: {TOKEN}", "accept: application/atom+xml,application/xml"],
        entryType: "application/atom+xml;type=entry;charset=\"utf-8\"",
        prolog: "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>",
        entryHead: "<title/><updated>2026-11-21T10:00:00.000Z</updated><author><name/></author><id/>", top: "%24top",
        filter: "%24filter", handleFilter: "DeviceToken%20eq%20'AB12'", registrations: "/hub/Registrations/",
        registrationIDs: "/hub/registrationids/")

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
