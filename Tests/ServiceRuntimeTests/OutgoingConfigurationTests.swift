import Foundation
import TestSupport
import Testing

@testable import OutgoingHTTP
@testable import ServiceConfiguration

@Suite("Proxies and trusted authorities") struct OutgoingConfigurationTests {
    @Test(
        arguments: [
            ("http://proxy.example:3128", "proxy.example:3128", nil),
            ("proxy.example:3128/", "proxy.example:3128", nil),
            ("HTTP://10.0.0.1", "10.0.0.1:80", nil), ("http://[2001:db8::1]:8080", "[2001:db8::1]:8080", nil),
            ("http://u:p@h:1", "h:1", "dTpw"), ("http://u%40x:p%3Aq@h:1", "h:1", "dUB4OnA6cQ=="),
            ("http://u@h:1", "h:1", "dTo="), ("http://u:a@b@h:1", "h:1", "dTphQGI="),
        ] as [(String, String, String?)])
    func `The URL of a proxy is read with its credentials`(text: String, shown: String, credentials: String?) throws {
        let proxy = try OutgoingProxy(text)
        #expect("\(proxy)" == shown && proxy.basicCredentials == credentials)
    }

    @Test(arguments: [
        "https://h:1", "socks5://h:1", "http://", "http://h:0", "http://h:65536", "http://h:x", "http://h/path",
        "http://u%zz:hunter2@h:1", "http://:hunter2@h:1", "http://h\r\nX: 1:80", "http://[::1", "a b:1",
    ])
    func `Other texts are refused`(_ text: String) {
        do {
            Issue.record("accepted as \(try OutgoingProxy(text))")
        } catch {
            #expect(!error.problem.contains("hunter2"))
        }
    }

    @Test func `Credentials are nowhere shown`() throws {
        let proxy = try OutgoingProxy("http://user:hunter2@h:1")
        var text = "\(proxy) \([proxy]) \(String(reflecting: proxy))"
        dump(proxy, to: &text)
        let secret = try #require(proxy.basicCredentials)
        #expect(!text.contains("hunter2") && !text.contains(secret))
    }

    @Test(
        arguments: [
            ("*", "h.example", 443, true), ("example.com", "example.com", 443, true),
            ("example.com", "a.example.com", 443, true), ("example.com", "notexample.com", 443, false),
            (".example.com", "example.com", 443, false), (".example.com", "a.b.example.com", 443, true),
            ("*.example.com", "a.example.com", 443, true), ("EXAMPLE.com", "example.COM.", 443, true),
            ("example.com:8443", "example.com", 8443, true), ("example.com:8443", "example.com", 443, false),
            ("10.0.0.0/8", "10.1.2.3", 443, true), ("10.0.0.0/8", "11.1.2.3", 443, false),
            ("10.1.2.0/23", "10.1.3.255", 443, true), ("10.1.2.0/23", "10.1.4.0", 443, false),
            ("0.0.0.0/0", "8.8.8.8", 443, true), ("10.0.0.0/8", "ten.example", 443, false),
            ("192.0.2.1", "192.0.2.1", 443, true), ("192.0.2.1:80", "192.0.2.1", 443, false),
            ("2001:db8::/32", "2001:db8::5", 443, true), ("[2001:db8::5]:443", "2001:db8::5", 443, true),
            ("2001:db8::5", "[2001:DB8::5]", 443, true), ("a.example, b.example", "b.example", 443, true),
            ("a.example b.example", "b.example", 443, true), ("", "h", 443, false), (",,", "h", 443, false),
        ] as [(String, String, Int, Bool)])
    func `Exceptions are names, addresses and networks`(list: String, host: String, port: Int, isExcepted: Bool) throws
    {
        #expect(try ProxyExceptions(list).contains(host, port: port) == isExcepted)
    }

    @Test(arguments: ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "host/8", "h:99999", "::/129"])
    func `Exceptions that cannot be read are refused`(_ text: String) {
        #expect(throws: ConfigurationRefusal.self) { try ProxyExceptions(text) }
    }

    @Test func `A URL has the proxy of its scheme`() throws {
        var reader = ConfigurationReader(environment: [
            "HTTPS_PROXY": "http://s:1", "http_proxy": "http://p:2", "NO_PROXY": "direct.example",
        ])
        let outgoing = OutgoingConfiguration.read(&reader)
        #expect(reader.issues.isEmpty)
        let proxies = [
            "https://a.example/x", "http://a.example/", "https://direct.example", "https://localhost:8443",
            "http://127.0.0.1/", "https://[::1]/", "not a URL",
        ].map { outgoing.proxy(to: $0)?.port }
        #expect(proxies == [1, 2, nil, nil, nil, nil, nil])
    }

    @Test func `The URL may be in a file`() async throws {
        try await withTemporaryFolderURL { folder in
            let path = folder.appending(path: "proxy").path
            try Data("http://u:p@h:3128\n".utf8).write(to: URL(filePath: path))
            var reader = ConfigurationReader(environment: ["HTTPS_PROXY_FILE": path])
            #expect(OutgoingConfiguration.read(&reader).httpsProxy?.basicCredentials == "dTpw")
        }
    }

    @Test func `Mistakes are noted once and without the secret`() {
        var reader = ConfigurationReader(environment: [
            "HTTPS_PROXY": "socks5://u:hunter2@h", "NO_PROXY": "10.0.0.0/99", "SSL_CERT_FILE": "/nowhere.pem",
            "SSL_CERT_DIR": "/nowhere",
        ])
        _ = OutgoingConfiguration.read(&reader)
        _ = OutgoingConfiguration.read(&reader)
        #expect(reader.issues.map(\.key) == ["HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"])
        #expect(reader.issues.allSatisfy { !$0.problem.contains("hunter2") })
    }

    @Test func `A file without a certificate is a mistake`() async throws {
        try await withTemporaryFolderURL { folder in
            let path = folder.appending(path: "ca.pem").path
            try Data("no certificate".utf8).write(to: URL(filePath: path))
            var reader = ConfigurationReader(environment: ["SSL_CERT_FILE": path, "SSL_CERT_DIR": folder.path])
            _ = OutgoingConfiguration.read(&reader)
            #expect(reader.issues.map(\.key) == ["SSL_CERT_FILE", "SSL_CERT_DIR"])
        }
    }
}
