import Domain
import Foundations
import NIOCore
import Testing

@testable import NotificationHubs

@Suite struct HubRequestWriterTests {
    private func write(_ notification: HubNotification) throws -> String? {
        var writer = HubRequestWriter(configuration: try localHub(port: 9000))
        var buffer = ByteBuffer()
        let token = SharedAccessToken(text: "TOKEN", number: 1, renewAt: .now)
        return writer.write(notification, token: token, into: &buffer) ? String(buffer: buffer) : nil
    }

    @Test func `A request is these bytes`() throws {
        let expected = """
            POST /hub/messages/?api-version=2020-06 HTTP/1.1
            Host: 127.0.0.1:9000
            User-Agent: SecurePush
            Authorization: TOKEN
            ServiceBusNotification-Format: apple
            ServiceBusNotification-Tags: username:alice
            Content-Type: application/json;charset=utf-8
            apns-push-type: background
            apns-priority: 5
            Content-Length: 46

            {"aps":{"content-available":1},"secureId":"7"}
            """
        #expect(try write(.sample)?.replacing("\r\n", with: "\n") == expected)
        #expect(try write(.sample)?.utf8.count(where: { $0 == 13 }) == 11)
    }

    @Test func `The content length is in bytes`() throws {
        var notification = HubNotification.sample
        notification.body = "é\n"
        #expect(try write(notification)?.hasSuffix("Content-Length: 3\r\n\r\né\n") == true)
    }

    @Test func `No field smuggles another`() throws {
        var tag = HubNotification.sample
        tag.tag = "username:a\r\nX: y"
        var type = HubNotification.sample
        type.contentType = "text/plain\n"
        var header = HubNotification.sample
        header.headers.append(.init("apns-collapse-id", "a\r\n\r\nPOST /"))
        var platform = HubNotification.sample
        platform.platform = Platform(rawValue: "apple\u{0}")
        for notification in [tag, type, header, platform] { #expect(try write(notification) == nil) }
    }

    @Test func `A new token replaces the old`() throws {
        var writer = HubRequestWriter(configuration: try localHub(port: 9000))
        for number in 1...2 {
            var buffer = ByteBuffer()
            let token = SharedAccessToken(text: "TOKEN-\(number)", number: number, renewAt: .now)
            #expect(writer.write(.sample, token: token, into: &buffer))
            #expect(String(buffer: buffer).contains("Authorization: TOKEN-\(number)\r\n"))
        }
    }
}
