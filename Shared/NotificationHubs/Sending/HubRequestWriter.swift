import NIOCore
import SecurePushCore

/// Writes send requests (`POST /HUB/messages/`) as bytes. The constant part is prepared once per token.
struct HubRequestWriter {
    private let head: String
    private var prepared = ByteBuffer()
    /// The number of the token in use.
    private(set) var tokenNumber = 0

    init(configuration: NotificationHubConfiguration) {
        head =
            "POST \(configuration.path)/messages/?api-version=\(NotificationHubConfiguration.apiVersion) HTTP/1.1\r\n"
            + "Host: \(configuration.endpoint.authority)\r\nUser-Agent: SecurePush\r\nAuthorization: "
    }

    /// Appends a whole request.
    ///
    /// - Returns: `false` if a field of the notification holds a control character, which could smuggle a header or a
    ///   request. The buffer is then not to be sent.
    mutating func write(
        _ notification: HubNotification, token: SharedAccessToken, into buffer: inout ByteBuffer
    ) -> Bool {
        if token.number != tokenNumber {
            tokenNumber = token.number
            prepared = ByteBuffer(string: head + token.text + "\r\nServiceBusNotification-Format: ")
        }
        buffer.writeImmutableBuffer(prepared)
        let start = buffer.writerIndex
        buffer.writeString(notification.platform.rawValue)
        buffer.writeStaticString("\r\nServiceBusNotification-Tags: ")
        buffer.writeString(notification.tag)
        buffer.writeStaticString("\r\nContent-Type: ")
        buffer.writeString(notification.contentType)
        for header in notification.headers {
            buffer.writeStaticString("\r\n")
            buffer.writeString(header.name)
            buffer.writeStaticString(": ")
            buffer.writeString(header.value)
        }
        let lineEnds = 2 + notification.headers.count
        guard buffer.controlCharacters(from: start) == 2 * lineEnds else { return false }
        buffer.writeStaticString("\r\nContent-Length: ")
        buffer.writeString(String(notification.body.utf8.count))
        buffer.writeStaticString("\r\n\r\n")
        buffer.writeString(notification.body)
        return true
    }
}

extension ByteBuffer {
    /// The number of control characters from an index to the end of the written bytes.
    fileprivate func controlCharacters(from index: Int) -> Int {
        withUnsafeReadableBytes { bytes in
            var count = 0
            for byte in bytes[(index - readerIndex)...] where byte < 0x20 || byte == 0x7F { count += 1 }
            return count
        }
    }
}
