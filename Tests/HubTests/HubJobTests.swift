import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct HubJobTests {
    @Test(arguments: [
        (HTTPRequest.Method.post, "/hub/jobs"), (.get, "/hub/jobs"), (.get, "/hub/Jobs/1?api-version=2020-06"),
    ])
    func `Jobs are not implemented`(_ request: (method: HTTPRequest.Method, path: String)) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(request.method, request.path)
            #expect(response.status == .notImplemented)
            #expect(response.text.hasPrefix("<Error><Code>501</Code><Detail>This hub has no jobs."))
            let listen = TestToken.make(rule: SharedAccessRule.defaultListenName, key: emulator.listenKey)
            let refused = try await emulator.call(request.method, request.path, authorization: listen)
            #expect(refused.status == .forbidden)
        }
    }
}
