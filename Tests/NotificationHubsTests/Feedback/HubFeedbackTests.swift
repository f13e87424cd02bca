import Domain
import Foundations
import Logging
import NIOCore
import Testing

@testable import NotificationHubs

@Suite struct HubFeedbackTests {
    private static func record(
        _ handle: String, _ error: String = "ExpiredChannel", at time: String = "2026-11-22T08:30:00.000Z"
    ) -> String {
        "<PnsFeedback xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\">"
            + "<FeedbackTime>\(time)</FeedbackTime><NotificationSystemError>\(error)</NotificationSystemError>"
            + "<Platform>apple</Platform><PnsHandle>\(handle)</PnsHandle></PnsFeedback>\n"
    }

    private static let time = Timestamp(rfc3339: "2026-11-22T08:30:00.000Z")!

    /// Answers as the container does that the hub names; `files` are names, versions and texts.
    private func withHub(
        _ files: [(String, String?, String)], container: String? = nil,
        _ body: @escaping @Sendable (HubDevices, FakeHub) async throws -> Void
    ) async throws {
        let script: FakeHub.Script = { request in
            let line = request.headLines.first ?? ""
            let path = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            if path.hasPrefix("/hub/feedbackcontainer") {
                let host = request.header("Host") ?? ""
                return [FakeHub.answer("200 OK", body: container ?? "http://\(host)/box?sig=a%2Bb\n")]
            }
            if path.hasPrefix("/box?") {
                let blobs = files.map { name, version, _ in
                    let properties = version.map { "<Properties><Etag>\($0)</Etag></Properties>" } ?? ""
                    return "<Blob><Name>\(name)</Name>\(properties)</Blob>"
                }
                return [
                    FakeHub.answer(
                        "200 OK",
                        body:
                            "<?xml version=\"1.0\"?><EnumerationResults ContainerName=\"box\"><Blobs>\(blobs.joined())"
                            + "</Blobs><NextMarker/></EnumerationResults>")
                ]
            }
            let found = files.first { path == "/box/\($0.0)?sig=a%2Bb" }
            return [found.map { FakeHub.answer("200 OK", body: $0.2) } ?? FakeHub.answer("404 Not Found")]
        }
        try await withFakeHub(script) { hub in
            let devices = HubDevices(
                configuration: try localHub(port: hub.port), logger: Logger(label: "test"), deadline: .seconds(60))
            try await withService(devices) { _ in try await body(devices, hub) }
        }
    }

    @Test func `The records of all files are read`() async throws {
        let files = [
            ("2026/a.xml", "1", Self.record("AA") + Self.record("x&amp;y&lt;")),
            ("2026/b.xml", nil, Self.record("BB", "WrongToken")),
        ]
        try await withHub(files) { devices, hub in
            let page = try await devices.feedback(after: [:])
            #expect(page.channels == ["AA", "x&y<", "BB"].map { DeadChannel(handle: $0, rejectedAt: Self.time) })
            #expect(page.versions == ["2026/a.xml": "1"])
            // The hub's key goes to the hub, and not to the place that it names.
            for request in hub.requests {
                let isToHub = request.headLines.first?.contains("/hub/") == true
                #expect((request.header("Authorization") != nil) == isToHub)
            }
            let again = try await devices.feedback(after: page.versions)
            #expect(again.channels.map(\.handle) == ["BB"])
        }
    }

    @Test(arguments: [
        "", "ftp://127.0.0.1/x", "http://169.254.169.254/latest", "http://other.example/x", "file:///etc/passwd", "box",
    ])
    func `A container elsewhere by plain HTTP is refused`(_ container: String) async throws {
        try await withHub([], container: container) { devices, hub in
            let error = await #expect(throws: PushGatewayError.self) { try await devices.feedback(after: [:]) }
            #expect(error?.code == .unavailable && hub.requests.count == 1)
        }
    }

    @Test func `A hub with TLS names a place with TLS`() throws {
        let hub = try HubEndpoint("sb://ns.servicebus.windows.net/")
        #expect(FeedbackContainer("https://x.blob.core.windows.net/c?sig=a", hub: hub) != nil)
        #expect(FeedbackContainer("http://ns.servicebus.windows.net/c", hub: hub) == nil)
        let place = "https://x.blob.core.windows.net"
        let container = try #require(FeedbackContainer("\(place)/c?sv=1&sig=a", hub: hub))
        #expect(container.listURL(from: "") == "\(place)/c?sv=1&sig=a&restype=container&comp=list")
        #expect(container.listURL(from: "a b").hasSuffix("&marker=a%20b"))
        #expect(container.url(of: .init(name: "a/b c?.xml")) == "\(place)/c/a/b%20c%3F.xml?sv=1&sig=a")
    }

    /// A hub is outside of the trust boundary: it must not choose what this service asks.
    @Test(arguments: [
        "https://10.0.0.1/c", "https://metadata.internal/c", "https://evil.example/.blob.core.windows.net/c",
        "https://x.blob.core.windows.net.evil.example/c", "https://x.blob.core.windows.net@evil.example/c",
        "https://x.blob.core.windows.net:8443/c", "https://evil.example\\.blob.core.windows.net/c",
        "https://.blob.core.windows.net/c", "https://blob.core.windows.net/c", "https://xblob.core.windows.net/c",
        "https://evil.example?.blob.core.windows.net", "https://evil.example#.blob.core.windows.net",
        "https://ns.servicebus.windows.net.evil.example/c", "https://ns.servicebus.windows.net:444/c",
        "http://x.blob.core.windows.net/c",
    ])
    func `A hub with TLS names no other server`(_ url: String) throws {
        let hub = try HubEndpoint("sb://ns.servicebus.windows.net/")
        #expect(FeedbackContainer(url, hub: hub) == nil)
    }

    @Test func `The hub's own host and Azure storage are taken`() throws {
        let hub = try HubEndpoint("sb://ns.servicebus.windows.net/")
        for url in [
            "https://ns.servicebus.windows.net/c?sig=a", "https://a-b.z1.BLOB.core.windows.net/c",
            " https://x.blob.core.windows.net/c\n",
        ] { #expect(FeedbackContainer(url, hub: hub) != nil, "\(url)") }
    }

    @Test func `Only rejections of the handle count`() {
        let outcomes = [
            "BadChannel": true, "ExpiredChannel": true, "WrongToken": true, "ChannelDisconnected": false,
            "Throttled": false, "Success": false, "": false, "expiredchannel": false,
        ]
        for (outcome, isDead) in outcomes {
            #expect(FeedbackRecords.deadChannels(Self.record("A", outcome)).isEmpty == !isDead, "\(outcome)")
        }
    }

    @Test(arguments: [
        "", "<", "<PnsFeedback", "<PnsFeedback>", "<PnsFeedback></PnsFeedback>", "</PnsFeedback><PnsFeedback>",
        "<PnsFeedbackList></PnsFeedbackList>", "{\"PnsHandle\":\"A\"}",
        "<PnsFeedback><PnsHandle>A</PnsHandle></PnsFeedback>",
        record("A", at: "yesterday"), record(""), record("&bad;"), "\u{0}\u{FFFD}",
    ])
    func `What cannot be read is left out`(_ text: String) {
        #expect(FeedbackRecords.deadChannels(text).isEmpty)
        #expect(FeedbackRecords.deadChannels(text + Self.record("B")).count <= 1)
        #expect(FeedbackRecords.deadChannels(Self.record("B") + text).map(\.handle) == ["B"])
    }

    @Test(arguments: [("401 No", PushGatewayError.Code.unauthorized), ("404 No", .rejected), ("500 No", .unavailable)])
    func `The hub's refusal`(_ status: String, _ code: PushGatewayError.Code) async throws {
        try await withFakeHub({ _ in [FakeHub.answer(status)] }) { hub in
            let devices = HubDevices(
                configuration: try localHub(port: hub.port), logger: Logger(label: "test"), deadline: .seconds(60))
            try await withService(devices) { _ in
                let error = await #expect(throws: PushGatewayError.self) { try await devices.feedback(after: [:]) }
                #expect(error?.code == code)
            }
        }
    }
}
