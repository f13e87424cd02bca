import PushServices
import Testing

struct PushHTTPResponseTests {
    @Test func aFieldIsFoundByName() {
        let response = PushHTTPResponse(status: 429, headers: [("retry-after", "7"), ("retry-after", "8")], body: [])
        #expect(response["retry-after"] == "7")
        #expect(response["location"] == nil)
    }
}
