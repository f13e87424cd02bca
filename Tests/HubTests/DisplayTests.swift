import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct DisplayTests {
    @Test(
        arguments: [
            (#"{"Id":"7","Text":"hello","Kind":"payload"}"#, 204), (#"{"text":"New message","kind":"Prompt"}"#, 204),
            (#"{"Id":"7"}"#, 422), (#"{"Text":1}"#, 422), (#"{"Text":"x","Kind":"other"}"#, 422), ("x", 400),
        ] as [(String, Int)])
    func `Displays are checked`(_ json: String, _ status: Int) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(
                .post, "/emulator/devices/aa/display", body: json, authorization: nil)
            #expect(response.status.code == status)
        }
    }

    @Test func `Only the newest are kept`() {
        let registry = DeviceRegistry(capacity: 10, feed: EventFeed())
        for number in 0..<(Device.keptForPage + 5) {
            registry.display(
                DeviceDisplay(handle: "a", id: nil, text: "\(number)", kind: .prompt, shownAt: ""))
        }
        #expect(registry.all.first?.displays.count == Device.keptForPage)
        #expect(registry.all.first?.displays.last?.text == "\(Device.keptForPage + 4)")
    }

    @Test func `A text takes the place of the same notification's prompt`() async throws {
        try await withEmulator { emulator in
            for json in [
                #"{"Id":"7","Text":"log in","Kind":"prompt"}"#, #"{"Id":"8","Text":"other"}"#,
                #"{"Id":"7","Text":"the secret"}"#,
            ] { _ = try await emulator.call(.post, "/emulator/devices/aa/display", body: json, authorization: nil) }
            #expect(emulator.state.devices.all.first?.displays.map(\.text) == ["other", "the secret"])
        }
    }

    @Test func `Withdrawn texts disappear`() async throws {
        try await withEmulator { emulator in
            func withdraw(_ path: String) async throws -> Int {
                Int(try await emulator.call(.delete, "/emulator/devices/\(path)", authorization: nil).status.code)
            }
            for id in ["7", "8"] {
                _ = try await emulator.call(
                    .post, "/emulator/devices/aa/display", body: #"{"Id":"\#(id)","Text":"x"}"#, authorization: nil)
            }
            #expect(try await withdraw("AA/display/7") == 204)
            #expect(emulator.state.devices.all.first?.displays.map(\.id) == ["8"])
            // A device may withdraw twice; and nobody makes a device by it.
            #expect(try await withdraw("AA/display/7") == 204)
            #expect(try await withdraw("unknown/display/7") == 204)
            #expect(emulator.state.devices.all.map(\.handle) == ["aa"])
        }
    }

    @Test func `Devices that nobody needs make room`() {
        let registry = DeviceRegistry(capacity: 3, feed: EventFeed())
        let push = DevicePush(
            platform: .apple, body: [], requestHeaders: [:], templateHeaders: nil, messageID: "",
            receivedAt: .now)
        for number in 0..<100 { registry.deliver(push, to: "h\(number)") }
        #expect(registry.all.count == 3)
        // Also registered ones whose push waits: what is newest counts.
        for number in 0..<100 { registry.deliver(push, to: "r\(number)", registrationID: "\(number)") }
        #expect(registry.all.map(\.handle) == ["r97", "r98", "r99"])
    }

    @Test func `A push to one device more than there is room for costs no more than another`() {
        let registry = DeviceRegistry(capacity: 20_000, feed: EventFeed())
        let push = DevicePush(
            platform: .apple, body: [], requestHeaders: [:], templateHeaders: nil, messageID: "",
            receivedAt: .now)
        // Nanoseconds of processor time: another clock would measure how busy the machine is.
        let processorTime = { () -> Int in
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000_000 + time.tv_nsec
        }
        let deliver = { (numbers: Range<Int>) -> Int in
            let start = processorTime()
            for number in numbers { registry.deliver(push, to: "r\(number)", registrationID: "r") }
            return processorTime() - start
        }
        let first = deliver(0..<20_000)
        #expect(deliver(20_000..<22_000) < first * 5)
    }
}
