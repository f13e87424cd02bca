import NIOCore

/// Collects a response as it arrives, with a bound.
struct PushResponseCollector {
    /// The maximum of a body that is kept, in bytes; the rest is not read.
    static let maxBody = 65_536
    /// The maximum size of all header fields, in bytes.
    static let maxHead = 16_384

    /// The response as far as it has arrived; `nil` before the end of its head.
    ///
    /// The status has the result of the push. So a response with an incomplete body is used, because a repetition would
    /// show the push twice.
    private(set) var response: PushHTTPResponse?

    /// Takes the head of a response.
    ///
    /// - Returns: false if it is only an interim response (RFC 9110, section 15.2), or has come already.
    mutating func begin(status: Int, headers: [(name: String, value: String)]) -> Bool {
        guard response == nil, status >= 200 else { return false }
        response = PushHTTPResponse(status: status, headers: headers, body: [])
        return true
    }

    /// Takes a part of the body.
    ///
    /// - Returns: false if no more is kept.
    mutating func append(_ bytes: ByteBufferView) -> Bool {
        let room = Self.maxBody - (response?.body.count ?? Self.maxBody)
        response?.body.append(contentsOf: bytes.prefix(room))
        return bytes.count <= room
    }
}
