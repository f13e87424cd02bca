import Domain
import Logging
import NIOCore
import Testing

@testable import NotificationHubs

/// A hub that sends its body byte by byte: whoever waits for the end of it waits too long.
@Suite struct SlowBodyTests {
    /// Sends the head at once, and then a byte every 100 ms for 10 s. The rest follows: without a deadline the answer
    /// would be good.
    private static func slowly(_ body: String) -> [FakeHub.Step] {
        let text = String(repeating: " ", count: 100) + body
        let head = FakeHub.Step.write("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n")
        let bytes = text.prefix(100).flatMap { [FakeHub.Step.write(String($0)), .wait(.milliseconds(100))] }
        return [head] + bytes + [.write(String(text.dropFirst(100)))]
    }

    /// Runs with a hub that follows the script, and with a client whose deadline is half a second.
    private func withHub(
        _ script: @escaping FakeHub.Script, _ body: @escaping @Sendable (HubDevices) async throws -> Void
    ) async throws {
        try await withFakeHub(script) { hub in
            let devices = HubDevices(
                configuration: try localHub(port: hub.port), logger: Logger(label: "test"),
                deadline: .milliseconds(500))
            try await withService(devices) { _ in try await body(devices) }
        }
    }

    @Test func `The outcome of a message is not waited for without end`() async throws {
        let document = "<NotificationDetails><State>Completed</State></NotificationDetails>"
        try await withHub({ _ in Self.slowly(document) }) { devices in
            let alice = try #require(UserName("alice"))
            let error = await #expect(throws: PushGatewayError.self) {
                try await devices.outcome(ofMessage: "m", to: alice)
            }
            #expect(error?.code == .unavailable)
        }
    }

    @Test func `The list of registrations is not waited for without end`() async throws {
        try await withHub({ _ in Self.slowly("<feed></feed>") }) { devices in
            let error = await #expect(throws: PushGatewayError.self) { try await devices.registrations(handle: "A") }
            #expect(error?.code == .unavailable)
        }
    }

    @Test func `The feedback is not waited for without end`() async throws {
        let script: FakeHub.Script = { request in
            if request.headLines.first?.contains("/hub/feedbackcontainer") == true {
                return [FakeHub.answer("200 OK", body: "http://\(request.header("Host") ?? "")/box?sig=a")]
            }
            return Self.slowly("<EnumerationResults><Blobs></Blobs><NextMarker/></EnumerationResults>")
        }
        try await withHub(script) { devices in
            let error = await #expect(throws: PushGatewayError.self) { try await devices.feedback(after: [:]) }
            #expect(error?.code == .unavailable)
        }
    }
}
