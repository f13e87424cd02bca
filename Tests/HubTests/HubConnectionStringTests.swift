import Testing

@testable import Hub

@Suite struct HubConnectionStringTests {
    @Test func `Reads and writes`() throws {
        let text = "Endpoint=http://127.0.0.1:8090/;SharedAccessKeyName=rule;SharedAccessKey=abc=="
        let string = try #require(HubConnectionString(text))
        #expect(string.text == text)
        #expect(string.key == "abc==")
    }

    @Test func `Names come in any order and case and the slash is added`() throws {
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
    func `Refuses others`(_ text: String) {
        #expect(HubConnectionString(text) == nil)
    }

    @Test func `Keys are fresh and the listen key follows the full key`() {
        #expect(HubConnectionString.makeKey() != HubConnectionString.makeKey())
        #expect(HubConnectionString.makeKey().utf8.count == 44)
        let other = HubConnectionString(endpoint: "http://h/", keyName: "r", key: "other")
        #expect(testConnectionString.derivedListenKey == testConnectionString.derivedListenKey)
        #expect(testConnectionString.derivedListenKey != other.derivedListenKey)
    }
}
