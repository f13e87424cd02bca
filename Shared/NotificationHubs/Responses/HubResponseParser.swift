import NIOCore

/// Reads the responses on one connection, one after another, from bytes as they arrive. A value without I/O.
///
/// It is our own because it is cheaper than NIO's. A 201 of the emulator (410 bytes, 7 fields) in a release build costs
/// 2.5 µs of CPU time and 1 allocation here, and 7.6 µs and 10 allocations with `HTTPResponseDecoder`: NIO makes
/// strings of all fields, and wants to see the requests as parts. A whole send costs about 11 µs.
///
/// Decision: docs/decisions/0034-own-client-and-parser-for-the-hub.md
struct HubResponseParser {
    /// No hub sends a longer head or chunk line.
    static let maxHead = 16_384
    /// Longer bodies are not read to their end.
    static let maxBody = 1 << 20

    private enum Phase {
        case head
        case body(remaining: Int)
        case untilClose
        case chunkLine
        case chunk(remaining: Int)
        case chunkEnd
        case trailer
    }

    private var phase = Phase.head
    private var response: HubResponse?
    private var bodyBytes = 0
    private var pending = ByteBuffer()

    /// Whether a part of a response has been read.
    private(set) var hasBegun = false

    /// Whether bytes follow the last response; the connection must then not be used again.
    var hasLeftover: Bool { pending.readableBytes > 0 }

    /// - Returns: the response, once it is complete; interim responses (1xx) are skipped.
    mutating func consume(_ bytes: ByteBuffer) throws(HubResponseError) -> HubResponse? {
        hasBegun = true
        if pending.readableBytes == 0 { pending = bytes } else { pending.writeImmutableBuffer(bytes) }
        while true {
            guard try step() else { return nil }
            if case .head = phase, let response { return finished(response) }
        }
    }

    /// The peer has closed: completes a response that ends with the connection.
    mutating func finish() -> HubResponse? {
        guard case .untilClose = phase, let response else { return nil }
        return finished(response)
    }

    private mutating func finished(_ response: HubResponse) -> HubResponse {
        self.response = nil
        phase = .head
        bodyBytes = 0
        hasBegun = false
        // Releases the read buffer, so that NIO can use it again.
        if pending.readableBytes == 0 { pending = ByteBuffer() }
        return response
    }

    /// - Returns: whether another step may be possible with the bytes that are there.
    private mutating func step() throws(HubResponseError) -> Bool {
        switch phase {
        case .head: return try readHead()
        case .body(let remaining):
            let left = try readBody(remaining)
            phase = left > 0 ? .body(remaining: left) : .head
            return left == 0
        case .untilClose:
            _ = try readBody(pending.readableBytes)
            return false
        case .chunkLine: return try readChunkLine()
        case .chunk(let remaining):
            let left = try readBody(remaining)
            phase = left > 0 ? .chunk(remaining: left) : .chunkEnd
            return left == 0
        case .chunkEnd:
            guard let length = try readLine({ $0.count }) else { return false }
            guard length == 0 else { throw HubResponseError("a chunk of the response is longer than it says") }
            phase = .chunkLine
            return true
        case .trailer:
            guard let length = try readLine({ $0.count }) else { return false }
            if length == 0 { phase = .head }
            return true
        }
    }

    private mutating func readHead() throws(HubResponseError) -> Bool {
        let end = pending.withUnsafeReadableBytes { $0.endOfHead }
        guard let end else {
            if pending.readableBytes > Self.maxHead { throw HubResponseError("the response's head is too long") }
            return false
        }
        let result = pending.withUnsafeReadableBytes { bytes in
            Result { () throws(HubResponseError) in
                try HubResponseHead(UnsafeRawBufferPointer(rebasing: bytes[..<end.lowerBound]))
            }
        }
        let head = try result.get()
        pending.moveReaderIndex(forwardBy: end.upperBound)
        guard head.response.status >= 200 else {
            if head.response.status == 101 { throw HubResponseError("the hub wants another protocol") }
            return true
        }
        response = head.response
        switch head.framing {
        case .length(let length): phase = length > 0 ? .body(remaining: length) : .head
        case .chunked: phase = .chunkLine
        case .untilClose: phase = .untilClose
        }
        return true
    }

    private mutating func readChunkLine() throws(HubResponseError) -> Bool {
        let size = try readLine { line in
            let digits = line.prefix { $0 != UInt8(ascii: ";") }
            return HTTPNumber.hexadecimal(UnsafeRawBufferPointer(rebasing: digits).trimmed) ?? -1
        }
        guard let size else { return false }
        guard size >= 0 else { throw HubResponseError("a chunk of the response has no size") }
        phase = size > 0 ? .chunk(remaining: size) : .trailer
        return true
    }

    /// Takes one line and returns the result of `read`; `nil` until the line is complete.
    private mutating func readLine(_ read: (UnsafeRawBufferPointer) -> Int) throws(HubResponseError) -> Int? {
        let line = pending.withUnsafeReadableBytes { bytes -> (value: Int, end: Int)? in
            guard let end = bytes.position(of: UInt8(ascii: "\n")) else { return nil }
            let isCRLF = end > 0 && bytes[end - 1] == UInt8(ascii: "\r")
            return (read(UnsafeRawBufferPointer(rebasing: bytes[..<(isCRLF ? end - 1 : end)])), end + 1)
        }
        guard let line else {
            if pending.readableBytes > Self.maxHead { throw HubResponseError("a line of the response is too long") }
            return nil
        }
        pending.moveReaderIndex(forwardBy: line.end)
        return line.value
    }

    /// Takes up to `limit` bytes of body and keeps the first of an error's body. Returns the number that is missing.
    private mutating func readBody(_ limit: Int) throws(HubResponseError) -> Int {
        let count = min(limit, pending.readableBytes)
        bodyBytes += count
        guard bodyBytes <= Self.maxBody else { throw HubResponseError("the response's body is too long") }
        let capacity = HubResponse.maxBody - (response?.body.count ?? 0)
        if let status = response?.status, status >= 300, capacity > 0, count > 0 {
            response?.body.append(contentsOf: pending.readableBytesView.prefix(min(count, capacity)))
        }
        pending.moveReaderIndex(forwardBy: count)
        return limit - count
    }
}

extension UnsafeRawBufferPointer {
    /// The empty line that ends a head: from the end of the head's last line to the beginning of the body.
    fileprivate var endOfHead: Range<Int>? {
        var lineStart = 0
        while lineStart < count {
            guard let end = UnsafeRawBufferPointer(rebasing: self[lineStart...]).position(of: UInt8(ascii: "\n"))
            else { return nil }
            let isEmpty = end == 0 || end == 1 && self[lineStart] == UInt8(ascii: "\r")
            if isEmpty { return lineStart..<(lineStart + end + 1) }
            lineStart += end + 1
        }
        return nil
    }
}
