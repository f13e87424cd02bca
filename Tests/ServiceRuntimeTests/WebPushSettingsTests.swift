import ServiceConfiguration
import Testing

/// `WEB_PUSH_PUBLIC_KEY` is tested with the route that shows it.
@Suite("BROWSER_PUSH_URL")
struct WebPushSettingsTests {
    private func read(_ text: String) -> (page: String?, issues: Int) {
        var reader = ConfigurationReader(environment: ["BROWSER_PUSH_URL": text])
        let page = reader[\.browserPushURL]
        return (page, reader.issues.count)
    }

    @Test(arguments: [
        "https://app.example.org", "https://app.example.org/", "https://app.example.org:8443/a%20b/?c=d&e='f'#g",
        "https://[2001:db8::1]/", "https://user.example.org/@home",
    ])
    func `The address of a page is taken as it is`(_ text: String) {
        #expect(read(text) == (text, 0))
    }

    @Test(arguments: [
        "http://app.example.org/", "HTTPS://app.example.org/", "app.example.org", "https://", "https:///inbox",
        "https://:443/", "https://alice@app.example.org/", "https://app.example.org/\"x", "https://app.example.org/é",
        "https://app.example.org/a b", "https://app.example.org/" + String(repeating: "a", count: 477),
    ])
    func `Other texts are refused`(_ text: String) {
        #expect(read(text) == (nil, 1))
    }
}
