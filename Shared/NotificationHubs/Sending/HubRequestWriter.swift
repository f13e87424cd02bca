import Domain
import NIOCore

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
        var isValid = false
        // All fields in one step, because each write to a buffer checks its memory again.
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: notification.maxRequestBytes) { memory in
            var request = RequestBytes(memory)
            request.write(notification)
            isValid = request.isValid
            return request.count
        }
        return isValid
    }
}

extension HubNotification {
    /// At least the bytes of the request after its prepared part.
    fileprivate var maxRequestBytes: Int {
        var bytes = 128 + platform.rawValue.utf8.count + tag.utf8.count + contentType.utf8.count + body.utf8.count
        for header in headers { bytes += 4 + header.name.utf8.count + header.value.utf8.count }
        return bytes
    }
}

/// Writes a request into memory that is large enough.
private struct RequestBytes {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0
    /// Whether no field holds a control character.
    private(set) var isValid = true

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    mutating func write(_ notification: HubNotification) {
        field(notification.platform.rawValue)
        constant("\r\nServiceBusNotification-Tags: ")
        field(notification.tag)
        constant("\r\nContent-Type: ")
        field(notification.contentType)
        for header in notification.headers {
            constant("\r\n")
            field(header.name)
            constant(": ")
            field(header.value)
        }
        constant("\r\nContent-Length: ")
        append(String(notification.body.utf8.count))
        constant("\r\n\r\n")
        append(notification.body)
    }

    /// Appends a text and looks for control characters in it.
    private mutating func field(_ text: String) {
        let start = count
        append(text)
        for byte in memory[start..<count] where byte < 0x20 || byte == 0x7F { isValid = false }
    }

    private mutating func constant(_ text: StaticString) { text.withUTF8Buffer { append($0) } }

    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: UnsafeRawBufferPointer(bytes))
        count += bytes.count
    }
}
