import Testing

@testable import ServiceConfiguration

@Suite("Origins of web apps")
struct WebOriginTests {
    @Test(arguments: [
        "https://app.example.org", "http://localhost:5173", "https://app.example.org:8443", "http://127.0.0.1:3000",
        "https://xn--bcher-kva.example", "http://[::1]:8080", "https://[2001:db8::1]", "capacitor://localhost",
        "https://a_b.example.org", "http://example.org:443", "https://example.org:80", "https://h:65535",
    ])
    func `Exact origins are taken`(_ text: String) throws {
        #expect(try ConfigurationParser<WebOrigin>.webOrigin.parse(text).text == text)
    }

    @Test(
        arguments: [
            ("*", "wildcard"), ("https://*.example.org", "wildcard"), ("https://*", "wildcard"), ("*://h", "wildcard"),
            ("https://h:*", "wildcard"), ("null", "null"), ("app.example.org", "no scheme"), ("//h", "no scheme"),
            ("localhost:5173", "no scheme"), ("https:app.example.org", "no scheme"), ("NULL", "no scheme"),
            ("://h", "invalid scheme"), ("HTTPS://h", "invalid scheme"), ("1s://h", "invalid scheme"),
            ("file://h", "invalid scheme"), ("ht tp://h", "invalid scheme"),
            ("https://app.example.org/", "path"), ("https://app.example.org/app", "path"), ("https://h?x", "path"),
            ("https://h#x", "path"), ("https://h\\x", "path"),
            ("https://", "invalid host"), ("https://:443", "invalid host"), ("https://App.example.org", "invalid host"),
            ("https://user@h", "invalid host"), ("https://u:p@h", "invalid port"),
            ("https://b\u{FC}cher.example", "invalid host"),
            ("https://h h", "invalid host"), ("https://[::1", "invalid host"), ("https://[]", "invalid host"),
            ("https://[g]", "invalid host"), ("https://h,i", "invalid host"),
            ("https://h:", "invalid port"), ("https://h:0", "invalid port"), ("https://h:65536", "invalid port"),
            ("https://h:08443", "invalid port"), ("https://h:99999999999999999999", "invalid port"),
            ("https://[::1]x", "invalid port"), ("https://h:+1", "invalid port"),
            ("https://h:443", "leave it out"), ("http://h:80", "leave it out"),
        ] as [(String, String)])
    func `Other origins are refused`(_ text: String, _ reason: String) {
        let refusal = #expect(throws: ConfigurationRefusal.self) {
            try ConfigurationParser<WebOrigin>.webOrigin.parse(text)
        }
        #expect(refusal?.problem.contains(reason) == true, "\(String(describing: refusal))")
    }

    @Test func `The setting is a list`() throws {
        let key = ConfigurationKeys.retrievalCORSOrigins
        #expect(key.problem(with: "https://a.example, https://b.example") == nil)
        for text in ["https://a.example,*", "https://a.example,", ",", "https://a.example,null"] {
            #expect(key.problem(with: text) != nil, "\(text)")
        }
    }
}
