import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Logging
import Testing

@testable import Hub

/// What input can make grow has a bound, and no number from outside makes arithmetic trap.
@Suite struct BoundsTests {
    private static func push(_ size: Int) -> DevicePush {
        DevicePush(
            platform: .apple, body: [UInt8](repeating: 0x78, count: size), requestHeaders: [:],
            templateHeaders: nil, messageID: "m", receivedAt: .now)
    }

    private static func display(_ handle: String, _ size: Int) -> DeviceDisplay {
        DeviceDisplay(
            handle: handle, id: nil, text: String(repeating: "x", count: size), kind: .payload, shownAt: "now")
    }

    @Test func `Devices are bounded in number also when they show something`() {
        let devices = DeviceRegistry(capacity: 10, feed: EventFeed())
        for number in 0..<50 { devices.display(Self.display("d\(number)", 10)) }
        #expect(devices.size.devices == 10)
        let queues = (0..<20).map { devices.connect("s\($0)") }
        #expect(devices.size.devices == 10)
        // Those with a stream stay; what found no room got a stream that has ended.
        #expect(devices.queues.count == 10)
        devices.deliver(Self.push(1), to: "s0")
        #expect(queues[0].waiting.events == 1)
        queues.forEach { $0.finish() }
        #expect(devices.queues.isEmpty)
        _ = devices.connect("new")
        #expect(devices.queues.count == 1)
    }

    @Test func `What is kept for devices is bounded in bytes`() {
        let devices = DeviceRegistry(capacity: 1000, maxKeptBytes: 100_000, feed: EventFeed())
        for round in 0..<30 {
            for number in 0..<40 {
                devices.deliver(Self.push(1000 + round), to: "d\(number)")
                devices.display(Self.display("d\(number)", 700 + round))
            }
            #expect(devices.size.keptBytes <= 100_000)
        }
        let kept = devices.all.reduce(0) { $0 + $1.displays.count + ($1.pending == nil ? 0 : 1) }
        #expect(kept > 40)
        devices.clear()
        #expect(devices.size.keptBytes == 0)
    }

    @Test func `A handle has a bound`() async throws {
        try await withEmulator { emulator in
            let handle = String(repeating: "a", count: Device.maxHandleBytes + 2)
            let registered = try await emulator.call(
                .post, "/hub/registrations", headers: TestEntry.headers, body: TestEntry.apple(handle))
            #expect(registered.status == .badRequest)
            let installed = try await emulator.install(#"{"platform":"gcm","pushChannel":"\#(handle)"}"#)
            #expect(installed.status == .badRequest)
            let shown = try await emulator.call(
                .post, "/emulator/devices/\(handle)/display", body: #"{"Text":"a"}"#, authorization: nil)
            #expect(shown.status == .badRequest)
        }
    }

    @Test func `Templates and tiles of an installation are bounded together`() throws {
        func document(tiles: Int, templates: Int) -> [UInt8] {
            let parts = (0..<templates).map { "\"\($0)\":{\"body\":\"b\"}" }.joined(separator: ",")
            let tile = #"{"pushChannel":"c","templates":{\#(parts)}}"#
            let all = (0..<tiles).map { "\"\($0)\":\(tile)" }.joined(separator: ",")
            return Array(#"{"platform":"wns","pushChannel":"c","secondaryTiles":{\#(all)}}"#.utf8)
        }
        let installation = try HubInstallation(id: "i", document: document(tiles: 10, templates: 9))
        #expect(installation.parts.count == 101)
        for (tiles, templates) in [(10, 10), (2, 60), (101, 0)] {
            #expect(throws: HubError.self) {
                _ = try HubInstallation(id: "i", document: document(tiles: tiles, templates: templates))
            }
        }
    }

    @Test func `A template gives no more than its bound`() throws {
        let properties = try TemplateProperties(
            message: Array(#"{"a":"\#(String(repeating: "x", count: 60_000))"}"#.utf8))
        for template in [
            String(repeating: "$(a)$body", count: 5000),
            "{" + Array(repeating: "$(a)", count: 9000).joined(separator: " + ") + "}",
        ] {
            let text = TemplateRenderer(TemplateTests.registration(.windows, template), properties).body
            #expect((60_000...(TemplateRenderer.maxBytes + 70_000)).contains(text.utf8.count))
        }
    }

    // MARK: Numbers

    @Test(
        arguments: [
            ("31(n);9223372036854775807", 200), ("31(n);-9223372036854775808", 200), ("31(n);9223372036854775808", 400),
            ("31(n);", 400), ("0", 200), ("1e3;", 400),
        ] as [(String, Int)])
    func `A continuation token may name any number`(_ text: String, _ status: Int) async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            let token = Data(text.utf8).base64EncodedString().replacing("=", with: "%3D").replacing("+", with: "%2B")
            for path in ["/hub/registrations", "/hub/tags/t/registrations"] {
                let response = try await emulator.call(.get, "\(path)?continuationtoken=\(token)")
                #expect(response.status.code == status)
            }
        }
    }

    @Test func `Counts in queries may be any number`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            _ = try await emulator.send(tags: "t")
            for (path, status) in [
                ("/hub/registrations?$top=9223372036854775807", 200), ("/hub/registrations?$top=-1", 400),
                ("/hub/registrations?$top=99999999999999999999", 400),
                ("/$Resources/NotificationHubs?$skip=9223372036854775807&$top=9223372036854775807", 200),
                ("/emulator/messages?Limit=9223372036854775807", 200), ("/emulator/messages?Limit=-1", 422),
                ("/emulator/messages?After=9223372036854775807", 200),
                ("/emulator/messages?After=-9223372036854775808&Limit=0", 200),
                ("/hub/messages/73622a22797441e4b434e8c2c14112ce-20181107001834-9223372036854775807-18", 404),
                ("/hub/messages/73622a22797441e4b434e8c2c14112ce-20181107001834--1-18", 404),
                ("/emulator/faults/9223372036854775808", 405),
            ] {
                #expect(try await emulator.call(.get, path).status.code == status, "\(path)")
            }
        }
    }

    @Test(arguments: [
        #"{"Status":503,"RetryAfter":1e300}"#, #"{"LatencyMs":600001}"#, #"{"LatencyMs":-1}"#,
        #"{"TimeoutMs":9223372036854775808}"#, #"{"Status":503,"Count":0.5}"#, #"{"Status":503,"Rate":1.01}"#,
        #"{"Status":503,"Seed":1e19}"#, #"{"Status":503,"At":"9999999999h"}"#,
        #"{"Status":503,"For":"1000000000000s"}"#,
        #"{"Status":99999999999999999999}"#,
    ])
    func `A fault's numbers have bounds`(_ json: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.addFault(json)
            #expect(response.status.code == 422)
        }
    }

    @Test(arguments: [
        "1970-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0000-01-01T00:00:00", "2026-01-31T10:00:60.999Z",
        "2026-01-31T10:00:00.9999999999Z",
    ])
    func `A schedule time is within the calendar`(_ text: String) {
        if let time = Timestamp(scheduleHeader: text) { #expect(Timestamp.supported.contains(time)) }
    }

    @Test func `A clock that is set back does not stretch a throttle`() {
        var window = ThrottleWindow()
        for _ in 0..<100 { #expect(window.take(.free, nowMilliseconds: 10_000_000) == nil) }
        #expect(window.take(.free, nowMilliseconds: 10_000_000) == 60)
        #expect(window.take(.free, nowMilliseconds: 1) == nil)
    }
}
