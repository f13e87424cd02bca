import NIOCore

/// One event of an event stream (HTML Standard, 9.2).
struct ServerSentEvent: Sendable {
    let event: String
    /// One line of JSON.
    let data: [UInt8]

    var buffer: ByteBuffer {
        var buffer = ByteBuffer(string: "event: \(event)\ndata: ")
        buffer.writeBytes(data)
        buffer.writeString("\n\n")
        return buffer
    }
}
