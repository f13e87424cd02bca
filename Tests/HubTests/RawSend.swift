@testable import Hub

/// A send, byte for byte.
struct RawSend {
    var method = "POST"
    var target = "/hub/messages?api-version=2020-06"
    var version = "HTTP/1.1"
    var format: String? = "apple"
    var tags: String? = "t"
    var headers: [String] = []
    var body = #"{"aps":{}}"#
    var authorization = TestToken.make()
    /// Instead of the length.
    var framing: String?

    var text: String {
        var lines = ["\(method) \(target) \(version)", "Host: 127.0.0.1:8090", "Authorization: \(authorization)"]
        lines += headers
        if let format { lines.append("ServiceBusNotification-Format: \(format)") }
        if let tags { lines.append("ServiceBusNotification-Tags: \(tags)") }
        lines.append(framing ?? "Content-Length: \(body.utf8.count)")
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}
