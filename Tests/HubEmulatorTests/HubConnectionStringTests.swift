import Testing

@testable import HubEmulator

@Suite struct HubConnectionStringTests {
    @Test func readsAndWrites() throws {
        let text = "Endpoint=http://127.0.0.1:8090/;SharedAccessKeyName=rule;SharedAccessKey=abc=="
        let string = try #require(HubConnectionString(text))
        #expect(string.text == text)
        #expect(string.key == "abc==")
    }

    @Test func namesComeInAnyOrderAndCaseAndTheSlashIsAdded() throws {
        let string = try #require(
            HubConnectionString("sharedaccesskey=k=;ENDPOINT=sb://h.test; SharedAccessKeyName=r;"))
        #expect(string.text == "Endpoint=sb://h.test/;SharedAccessKeyName=r;SharedAccessKey=k=")
    }

    @Test(arguments: [
        "", "x", "Endpoint=http://h/", "Endpoint=h;SharedAccessKeyName=r;SharedAccessKey=k",
        "Endpoint=http://h/;SharedAccessKeyName=r;SharedAccessKey=",
        "Endpoint=http://h/;Endpoint=http://h/;SharedAccessKeyName=r;SharedAccessKey=k",
        "Endpoint=http://h/;SharedAccessKeyName=r;SharedAccessKey=k;Other=1",
    ])
    func refusesOthers(_ text: String) {
        #expect(HubConnectionString(text) == nil)
    }

    @Test func keysAreFreshAndTheListenKeyFollowsTheFullKey() {
        #expect(HubConnectionString.makeKey() != HubConnectionString.makeKey())
        #expect(HubConnectionString.makeKey().utf8.count == 44)
        let other = HubConnectionString(endpoint: "http://h/", keyName: "r", key: "other")
        #expect(testConnectionString.derivedListenKey == testConnectionString.derivedListenKey)
        #expect(testConnectionString.derivedListenKey != other.derivedListenKey)
    }
}
