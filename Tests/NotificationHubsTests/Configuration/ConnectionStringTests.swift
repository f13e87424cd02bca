import Foundations
import Testing

@testable import NotificationHubs

@Suite struct ConnectionStringTests {
    static let key = "c2VjcmV0LWtleQ=="
    static let tail = "SharedAccessKeyName=Rule;SharedAccessKey=\(key)"

    @Test(arguments: [
        ("sb://ns.servicebus.windows.net/", "https://ns.servicebus.windows.net"),
        ("sb://NS.servicebus.windows.net", "https://ns.servicebus.windows.net"),
        ("SB://ns.servicebus.windows.net:443/", "https://ns.servicebus.windows.net"),
        ("https://ns.example:8443/", "https://ns.example:8443"),
        ("http://127.0.0.1:9000/", "http://127.0.0.1:9000"),
        ("http://127.255.0.9", "http://127.255.0.9"),
        ("http://localhost:80", "http://localhost"),
        ("http://[::1]:9000/", "http://[::1]:9000"),
    ])
    func `An endpoint becomes a URL`(_ endpoint: String, _ url: String) throws {
        let hub = try NotificationHubConfiguration(
            connectionString: "Endpoint=\(endpoint);\(Self.tail)", hubName: "Hub")
        #expect(hub.endpoint.url == url)
        #expect(hub.resource == url + "/Hub")
    }

    @Test(arguments: [
        "http://ns.servicebus.windows.net/", "http://127.evil.example/", "http://127.0.0.1.evil.example/",
        "http://127.0.0.256/", "http://10.0.0.1/", "http://[::2]/", "http://127.0.0.1@evil.example/",
        "ftp://127.0.0.1/",
        "ns.servicebus.windows.net", "sb://", "sb:///", "sb://ns/path", "sb://ns?x=1", "sb://ns:0/", "sb://ns:x/",
        "sb://n s/", "sb://ns:65536", "http://[::1", "http://[evil.example]/",
    ])
    func `Other endpoints are refused`(_ endpoint: String) {
        let error = #expect(throws: SetupError.self) {
            try NotificationHubConfiguration(connectionString: "Endpoint=\(endpoint);\(Self.tail)", hubName: "hub")
        }
        #expect(error?.code == .endpoint)
    }

    @Test func `Parts come in any order and case`() throws {
        let text = " sharedaccesskey = \(Self.key) ;;ENDPOINT=sb://ns/;SharedAccessKeyName=Rule\n"
        let hub = try NotificationHubConfiguration(connectionString: text, hubName: "hub")
        #expect(hub.key == Self.key)
        #expect(hub.keyName == "Rule")
    }

    @Test func `Entity path names the hub where nothing else does`() throws {
        let text = "Endpoint=sb://ns/;\(Self.tail);EntityPath=path"
        #expect(try NotificationHubConfiguration(connectionString: text, hubName: "").hubName == "path")
        #expect(try NotificationHubConfiguration(connectionString: text, hubName: "Path").hubName == "Path")
        let error = #expect(throws: SetupError.self) {
            try NotificationHubConfiguration(connectionString: text, hubName: "hub")
        }
        #expect(error?.code == .entityPath)
    }

    @Test(arguments: ["\"#\"", "'#'", "“#”", "\"#", "#'"])
    func `A quotation mark is told`(_ form: String) {
        let text = form.replacing("#", with: "Endpoint=sb://ns/;\(Self.tail)")
        let error = #expect(throws: SetupError.self) {
            try NotificationHubConfiguration(connectionString: text, hubName: "hub")
        }
        #expect(error?.message.contains("quotation mark") == true)
    }

    @Test(arguments: [
        ("", SetupError.Code.missingPart),
        ("Endpoint=sb://ns/;SharedAccessKeyName=Rule", .missingPart),
        ("Endpoint=sb://ns/;SharedAccessKeyName=;SharedAccessKey=\(key)", .missingPart),
        ("SharedAccessKeyName=Rule;SharedAccessKey=\(key)", .missingPart),
        ("Endpoint=sb://ns/;\(tail);sharedaccesskey=\(key)", .duplicatePart),
        ("Endpoint=sb://ns/;\(tail);\(key)", .unknownPart),
        ("Endpoint=sb://ns/;\(tail);c2VjcmV0LWtleQ", .malformedPart),
    ])
    func `Faults are said without the key`(_ text: String, _ code: SetupError.Code) {
        let error = #expect(throws: SetupError.self) {
            try NotificationHubConfiguration(connectionString: text, hubName: "hub")
        }
        #expect(error?.code == code)
        #expect(error?.message.contains("c2VjcmV0") == false)
    }

    @Test(arguments: ["h", "7", "Hub-1", "a.b_c", "team/hub", String(repeating: "h", count: 260)])
    func `These hub names are taken`(_ name: String) throws {
        let hub = try NotificationHubConfiguration(connectionString: "Endpoint=sb://ns/;\(Self.tail)", hubName: name)
        #expect(hub.hubName == name)
    }

    @Test(arguments: [
        "", "two words", "line\nfeed", String(repeating: "h", count: 261), "\u{FEFF}hub", "hüb", "-hub", "/hub", "hub?",
    ])
    func `Other hub names are refused`(_ name: String) {
        let error = #expect(throws: SetupError.self) {
            try NotificationHubConfiguration(connectionString: "Endpoint=sb://ns/;\(Self.tail)", hubName: name)
        }
        #expect(error?.code == .hubName)
    }

    @Test func `No description shows the key`() throws {
        let hub = try NotificationHubConfiguration(connectionString: "Endpoint=sb://ns/;\(Self.tail)", hubName: "hub")
        var dumped = ""
        dump(hub, to: &dumped)
        for text in ["\(hub)", String(reflecting: hub), "\([hub])", dumped] { #expect(!text.contains(Self.key)) }
        #expect("\(hub)" == "https://ns/hub (Rule)")
    }
}
