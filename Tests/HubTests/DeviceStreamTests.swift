import AsyncHTTPClient
import HTTPTypes
import HummingbirdTesting
import NIOCore
import NIOHTTP1
import ServiceRuntime
import StackKit
import TestSupport
import Testing

@testable import Hub

@Suite struct DeviceStreamTests {
    /// Opens a stream and collects what it says until the closure is done.
    private func withStream(
        _ path: String, _ emulator: Emulator,
        _ body: @escaping @Sendable (StreamText) async throws -> Void
    ) async throws {
        let request = HTTPClientRequest(url: "http://127.0.0.1:\(emulator.port)\(path)")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        #expect(response.headers.first(name: "content-type") == "text/event-stream")
        let text = StreamText()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await buffer in response.body { await text.append(String(buffer: buffer)) }
            }
            #expect(try await eventually { await text.value.contains(": connected") })
            try await body(text)
            group.cancelAll()
        }
    }

    @Test func `A device receives what is sent to its tag`() async throws {
        try await withEmulator(.live) { emulator in
            try await emulator.register("ab12", tags: "username:alice")
            try await withStream("/emulator/devices/ab12/stream", emulator) { text in
                _ = try await emulator.send(
                    #"{"aps":{},"secureId":"7"}"#, tags: "username:alice",
                    headers: [HTTPField.Name(static: "apns-priority"): "5"])
                _ = try await emulator.send("other", tags: "username:bob")
                _ = try await emulator.send("last", tags: "username:alice")
                #expect(try await eventually { await text.value.contains("last") })
                let value = await text.value
                #expect(value.contains("event: notification\ndata: {"))
                #expect(value.contains(#""Body":"{\"aps\":{},\"secureId\":\"7\"}""#))
                #expect(value.contains(#""apns-priority":"5""#))
                #expect(value.contains(#""Platform":"apple""#))
                #expect(value.contains(#""MessageId":""#))
                #expect(!value.contains("other"))
            }
        }
    }

    @Test func `Several streams of a device all receive`() async throws {
        try await withEmulator(.live) { emulator in
            try await withStream("/emulator/devices/h%2F1/stream", emulator) { first in
                try await withStream("/emulator/devices/h%2F1/stream", emulator) { second in
                    _ = try await emulator.send(
                        "7", format: "windows", headers: [HubHeaders.deviceHandle: "h/1"], uri: "/hub/messages?direct")
                    for text in [first, second] {
                        #expect(try await eventually { await text.value.contains(#""Body":"7""#) })
                    }
                }
            }
        }
    }

    @Test func `A late device gets the newest push only and once`() async throws {
        try await withEmulator(.live) { emulator in
            try await emulator.register("aa", tags: "t")
            for body in ["one", "two", "three"] {
                _ = try await emulator.send(
                    body, headers: [HubHeaders.deviceHandle: "aa"], uri: "/hub/messages?direct")
            }
            try await withStream("/emulator/devices/aa/stream", emulator) { text in
                let arrived = try await eventually { await text.value.contains("three") }
                #expect(arrived)
                let value = await text.value
                #expect(!value.contains("one") && !value.contains("two"))
            }
            let isOff = try await eventually {
                try await emulator.call(.get, "/emulator/devices", authorization: nil).text
                    .contains(#""Connected":false"#)
            }
            #expect(isOff)
            try await withStream("/emulator/devices/aa/stream", emulator) { text in
                _ = try await emulator.send(
                    "four", headers: [HubHeaders.deviceHandle: "aa"], uri: "/hub/messages?direct")
                #expect(try await eventually { await text.value.contains("four") })
                #expect(await !text.value.contains("three"))
            }
        }
    }

    @Test func `The feed tells of records, devices and displays`() async throws {
        try await withEmulator(.live) { emulator in
            try await withStream("/emulator/events", emulator) { text in
                try await emulator.register("ab", tags: "t")
                _ = try await emulator.send(tags: "t")
                let shown = try await emulator.call(
                    .post, "/emulator/devices/ab/display", body: #"{"Id":"7","Text":"secret","kind":"payload"}"#,
                    authorization: nil)
                #expect(shown.status == .noContent)
                for event in ["event: record", "event: device", "event: display", "secret"] {
                    #expect(try await eventually { await text.value.contains(event) }, "\(event)")
                }
            }
            let messages = try await emulator.call(.get, "/emulator/messages", authorization: nil).text
            #expect(!messages.contains("secret"))
            let devices = try await emulator.call(.get, "/emulator/devices", authorization: nil).text
            #expect(devices.contains("secret"))
        }
    }

    @Test func `Bodies in chunks and junk in headers are taken`() async throws {
        try await withEmulator(.live) { emulator in
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(emulator.port)/hub/messages?direct")
            request.method = .POST
            request.headers.add(name: "Authorization", value: TestToken.make())
            request.headers.add(name: "ServiceBusNotification-Format", value: "apple")
            request.headers.add(name: "ServiceBusNotification-DeviceHandle", value: "aa")
            request.headers.add(name: "X-Apns-Expiration", value: "\u{FFFD}")
            request.body = .stream(
                AsyncStream { continuation in
                    for part in ["{\"aps\"", ":{}}"] { continuation.yield(ByteBuffer(string: part)) }
                    continuation.finish()
                }, length: .unknown)
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            #expect(response.status == .created)
            #expect(try await emulator.records().first?["Body"] as? String == #"{"aps":{}}"#)
        }
    }
}

/// What a stream has said so far.
actor StreamText {
    private(set) var value = ""
    func append(_ text: String) { value += text }
}
