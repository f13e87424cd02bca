import Foundations
import PushServices
import ServiceConfiguration
import Testing

@Suite struct PushDestinationsTests {
    private static func browsers(_ allowedHosts: String...) throws -> PushDestinations {
        try PushDestinations(services: PushDestinations.browserServices, allowedHosts: allowedHosts)
    }

    @Test(arguments: [
        ("https://fcm.googleapis.com/fcm/send/a:APA91b-_", "fcm.googleapis.com", "/fcm/send/a:APA91b-_"),
        ("HTTPS://FCM.GoogleAPIs.com/Wp/X", "fcm.googleapis.com", "/Wp/X"),
        ("https://fcm.googleapis.com:443/x", "fcm.googleapis.com", "/x"),
        (
            "https://updates.push.services.mozilla.com/wpush/v2/gAAA%3d", "updates.push.services.mozilla.com",
            "/wpush/v2/gAAA%3d"
        ),
        ("https://web.push.apple.com/QFq/../x", "web.push.apple.com", "/QFq/../x"),
        ("https://a.b.push.apple.com/x?", "a.b.push.apple.com", "/x?"),
        (
            "https://wns2-par02p.notify.windows.com/w/?token=BQ%2f&x=/", "wns2-par02p.notify.windows.com",
            "/w/?token=BQ%2f&x=/"
        ),
        ("https://wns2-par02p.notify.windows.com?token=a", "wns2-par02p.notify.windows.com", "/?token=a"),
    ])
    func `An endpoint is sent to as it is written`(url: String, host: String, path: String) throws {
        let destination = try Self.browsers().destination(url)
        #expect(destination.origin == PushOrigin(host: host))
        #expect(destination.path == path)
        #expect(destination.origin.text == "https://\(host)")
    }

    /// Hosts of somebody else that look like one of ours to a careless reader.
    @Test(arguments: [
        "https://evil.example/x.google.com/", "https://evil.example/?https://fcm.googleapis.com/",
        "https://fcm.googleapis.com.evil.example/x", "https://evilfcm.googleapis.com/x",
        "https://x.fcm.googleapis.com/",
        "https://evilpush.apple.com/x", "https://push.apple.com/x", "https://notify.windows.com/x",
        "https://push.apple.com.evil.example/x", "https://fcm.googleapis.com:8443/x", "https://fcm.googleapis.com:80/x",
        "https://127.0.0.1/x", "https://2130706433/x", "https://0x7f.1/x", "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/",
        "https://localhost/x", "https://169.254.169.254/latest/meta-data/", "https://google.com/", "https://com/",
        "https://xn--fcm-googleapis-com.example/x",
    ])
    func `Other hosts and ports are refused`(url: String) throws {
        #expect(throws: PushDestination.Problem.notAllowed) { try Self.browsers().destination(url) }
    }

    @Test(arguments: [
        ("http://fcm.googleapis.com/x", PushDestination.Problem.notHTTPS), ("", .notHTTPS), ("https://", .notHTTPS),
        ("//fcm.googleapis.com/x", .notHTTPS), ("httpS:/fcm.googleapis.com/x", .notHTTPS),
        (" https://fcm.googleapis.com/", .notHTTPS),
        ("https:\u{1A}//fcm.googleapis.com/", .notHTTPS), ("file:///etc/passwd", .notHTTPS),
        ("https://user@fcm.googleapis.com/x", .userInformation),
        ("https://fcm.googleapis.com@evil.example/x", .userInformation),
        ("https://a:b@fcm.googleapis.com/x", .userInformation), ("https://fcm.googleapis.com/x#y", .fragment),
        ("https://fcm.googleapis.com#@evil.example/", .fragment), ("https://fcm.googleapis.com./x", .malformed),
        ("https://.fcm.googleapis.com/x", .malformed), ("https://fcm..googleapis.com/x", .malformed),
        ("https://fcm%2egoogleapis.com/x", .malformed),
        ("https://fcm.googleapis.com\\@evil.example/x", .userInformation),
        ("https://evil.example\\.push.apple.com/x", .malformed), ("https://fcm.googleapis.com:/x", .malformed),
        ("https://fcm.googleapis.com:0443/x", .malformed), ("https://fcm.googleapis.com:0/x", .malformed),
        ("https://fcm.googleapis.com:65536/x", .malformed), ("https://fcm.googleapis.com:+443/x", .malformed),
        ("https://fcm.googleapis.com:443:443/x", .malformed), ("https:///x", .malformed), ("https://?x", .malformed),
        ("https://fcm.googleapis.com/a b", .malformed), ("https://fcm.googleapis.com/a\r\nHost: x", .malformed),
        ("https://fcm.googleapis.com/\u{0}", .malformed), ("https://fcm.googleapis.com/\u{E9}", .malformed),
        ("https://fcm.googleapis.com/\"", .malformed), ("https://fcm.googleapis.com/\\x", .malformed),
        ("https://fcm.googleapis.c\u{F6}m/x", .malformed), ("https://\u{FF46}cm.googleapis.com/x", .malformed),
        ("https://[::1/x", .malformed), ("https://[fcm.googleapis.com]/x", .malformed),
        ("https://[::1%25eth0]/x", .malformed),
        ("https://::1/x", .malformed), ("https://[::1]x/", .malformed), ("https://fcm_.*/x", .malformed),
    ])
    func `What is no plain https URL is refused`(url: String, problem: PushDestination.Problem) throws {
        #expect(throws: problem) { try Self.browsers().destination(url) }
    }

    @Test func `An endpoint has at most 1,000 bytes`() throws {
        let start = "https://fcm.googleapis.com/"
        let longest = start + String(repeating: "x", count: 1_000 - start.utf8.count)
        #expect(try Self.browsers().destination(longest).path.utf8.count == 1_000 - start.utf8.count + 1)
        #expect(throws: PushDestination.Problem.tooLong(1_000)) { try Self.browsers().destination(longest + "x") }
        // Characters of several bytes do not help.
        #expect(throws: PushDestination.Problem.tooLong(1_000)) {
            try Self.browsers().destination(start + String(repeating: "\u{1F44B}", count: 250))
        }
    }

    @Test func `WNS has its own hosts`() throws {
        let windows = try PushDestinations(services: PushDestinations.windowsServices, allowedHosts: ["wns.test:8443"])
        #expect(try windows.destination("https://db5.notify.windows.com/?token=x").path == "/?token=x")
        #expect(try windows.destination("https://wns.test:8443/?token=x").origin.port == 8_443)
        #expect(throws: PushDestination.Problem.notAllowed) {
            try windows.destination("https://fcm.googleapis.com/x")
        }
    }

    // MARK: The operator's hosts

    @Test func `The operator allows hosts with their ports`() throws {
        let destinations = try Self.browsers(
            "push.example.org:8443", "up.example.org", "*.ntfy.example:444", "127.0.0.1:8443", "[::1]:8443",
            "LOCALHOST:1")
        let allowed = [
            "https://push.example.org:8443/x", "https://UP.example.org/x", "https://a.ntfy.example:444/",
            "https://a.b.ntfy.example:444/", "https://127.0.0.1:8443/x", "https://[::1]:8443/x",
            "https://localhost:1/x",
            "https://fcm.googleapis.com/x",
        ]
        for url in allowed { #expect(throws: Never.self, "\(url)") { try destinations.destination(url) } }
        let refused = [
            "https://push.example.org/x", "https://x.push.example.org:8443/", "https://up.example.org:444/",
            "https://ntfy.example:444/", "https://a.ntfy.example/", "https://evilntfy.example:444/",
            "https://127.0.0.1/",
            "https://[::1]/", "https://[0:0:0:0:0:0:0:1]:8443/", "https://a.localhost:1/",
        ]
        for url in refused {
            #expect(throws: PushDestination.Problem.notAllowed, "\(url)") { try destinations.destination(url) }
        }
        #expect(try destinations.destination("https://[::1]:8443/x").origin.text == "https://[::1]:8443")
    }

    @Test(arguments: [
        "", "*", "*.", "*.*", "https://push.example.org", "push.example.org/", "a b", "push.example.org:", "host:70000",
        "*.127.0.0.1", "user@push.example.org", "push.example.org.", "p\u{FC}sh.example.org", "*push.example.org",
        "::1",
    ])
    func `An entry in another form is an error that names it`(entry: String) {
        let error = #expect(throws: SetupError.self) {
            try PushDestinations(services: [], allowedHosts: ["push.example.org", entry])
        }
        #expect(error?.message.hasPrefix(entry) == true)
    }

    // MARK: Addresses

    @Test func `A host that only the operator allows may not lead to a special-purpose address`() throws {
        let destinations = try Self.browsers(
            "push.example.org:8443", "localhost:8444", "10.1.2.3:8445", "*.lan.example", "10.1.2.4", "10.1.2.4:8443")
        func permits(_ address: String, _ host: String, _ port: Int = 443) throws -> Bool {
            destinations.permits(try #require(NetworkAddress(address)), for: PushOrigin(host: host, port: port))
        }
        #expect(try permits("8.8.8.8", "push.example.org", 8_443))
        #expect(try permits("2606:4700::1111", "push.example.org", 8_443))
        #expect(try !permits("127.0.0.1", "push.example.org", 8_443))
        #expect(try !permits("10.9.9.9", "push.example.org", 8_443))
        #expect(try !permits("::ffff:10.9.9.9", "push.example.org", 8_443))
        #expect(try !permits("fd00::1", "a.lan.example"))
        // An address that the operator lists, with the port.
        #expect(try permits("10.1.2.4", "a.lan.example"))
        #expect(try permits("10.1.2.4", "push.example.org", 8_443))
        #expect(try !permits("10.1.2.4", "push.example.org", 8_445))
        #expect(try !permits("10.1.2.3", "a.lan.example"))
        #expect(try permits("10.1.2.3", "10.1.2.3", 8_445))
        // This machine by its name.
        #expect(try permits("127.0.0.1", "localhost", 8_444))
        #expect(try permits("::1", "localhost", 8_444))
        #expect(try !permits("10.9.9.9", "localhost", 8_444))
        // A company may have a way of its own to the big services.
        #expect(try permits("10.9.9.9", "fcm.googleapis.com"))
        #expect(try permits("10.9.9.9", "web.push.apple.com"))
    }

    @Test(arguments: [
        "0.0.0.0", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1",
        "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:192.168.0.1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::1", "100::1", "2001::1", "2001:2::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "3fff::1",
        "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "4000::1",
    ])
    func `These addresses are special`(text: String) throws {
        #expect(try #require(NetworkAddress(text)).isSpecialPurpose)
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "17.0.0.1", "2606:4700::1111", "2001:4860:4860::8888",
        "2001:200::1", "2a00:1450::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8",
    ])
    func `These addresses are not`(text: String) throws {
        #expect(try !#require(NetworkAddress(text)).isSpecialPurpose)
    }
}
