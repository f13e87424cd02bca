import NIOCore

/// Reads the answers on one connection, one after another, from bytes as they arrive. A value without I/O.
struct HubAnswerParser {
    /// Heads and chunk lines past this are no hub's.
    static let maxHead = 16_384
    /// Bodies past this are not read to their end.
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
    private var answer: HubAnswer?
    private var bodyBytes = 0
    private var pending = ByteBuffer()

    /// Whether part of an answer has been read.
    private(set) var hasBegun = false

    /// Whether bytes are left over after the last answer; the connection is then of no further use.
    var hasLeftover: Bool { pending.readableBytes > 0 }

    /// - Returns: the answer, once it is whole; interim answers (1xx) are passed over.
    mutating func consume(_ bytes: ByteBuffer) throws(HubAnswerError) -> HubAnswer? {
        hasBegun = true
        if pending.readableBytes == 0 { pending = bytes } else { pending.writeImmutableBuffer(bytes) }
        while true {
            guard try step() else { return nil }
            if case .head = phase, let answer { return finished(answer) }
        }
    }

    /// The peer has closed: completes an answer whose end is just that.
    mutating func finish() -> HubAnswer? {
        guard case .untilClose = phase, let answer else { return nil }
        return finished(answer)
    }

    private mutating func finished(_ answer: HubAnswer) -> HubAnswer {
        self.answer = nil
        phase = .head
        bodyBytes = 0
        hasBegun = false
        // Lets go of the read buffer, which NIO then uses again.
        if pending.readableBytes == 0 { pending = ByteBuffer() }
        return answer
    }

    /// - Returns: whether there may be more to do with the bytes at hand.
    private mutating func step() throws(HubAnswerError) -> Bool {
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
            guard length == 0 else { throw HubAnswerError("a chunk of the answer is longer than it says") }
            phase = .chunkLine
            return true
        case .trailer:
            guard let length = try readLine({ $0.count }) else { return false }
            if length == 0 { phase = .head }
            return true
        }
    }

    private mutating func readHead() throws(HubAnswerError) -> Bool {
        let end = pending.withUnsafeReadableBytes { $0.endOfHead }
        guard let end else {
            if pending.readableBytes > Self.maxHead { throw HubAnswerError("the answer's head is too long") }
            return false
        }
        let result = pending.withUnsafeReadableBytes { bytes in
            Result { () throws(HubAnswerError) in
                try HubAnswerHead(UnsafeRawBufferPointer(rebasing: bytes[..<end.lowerBound]))
            }
        }
        let head = try result.get()
        pending.moveReaderIndex(forwardBy: end.upperBound)
        guard head.answer.status >= 200 else {
            if head.answer.status == 101 { throw HubAnswerError("the hub wants another protocol") }
            return true
        }
        answer = head.answer
        switch head.framing {
        case .length(let length): phase = length > 0 ? .body(remaining: length) : .head
        case .chunked: phase = .chunkLine
        case .untilClose: phase = .untilClose
        }
        return true
    }

    private mutating func readChunkLine() throws(HubAnswerError) -> Bool {
        let size = try readLine { line in
            let digits = line.prefix { $0 != UInt8(ascii: ";") }
            return HTTPNumber.hexadecimal(UnsafeRawBufferPointer(rebasing: digits).trimmed) ?? -1
        }
        guard let size else { return false }
        guard size >= 0 else { throw HubAnswerError("a chunk of the answer has no size") }
        phase = size > 0 ? .chunk(remaining: size) : .trailer
        return true
    }

    /// Takes one line and what `read` makes of it; `nil` until it is whole.
    private mutating func readLine(_ read: (UnsafeRawBufferPointer) -> Int) throws(HubAnswerError) -> Int? {
        let line = pending.withUnsafeReadableBytes { bytes -> (value: Int, end: Int)? in
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let isCRLF = end > 0 && bytes[end - 1] == UInt8(ascii: "\r")
            return (read(UnsafeRawBufferPointer(rebasing: bytes[..<(isCRLF ? end - 1 : end)])), end + 1)
        }
        guard let line else {
            if pending.readableBytes > Self.maxHead { throw HubAnswerError("a line of the answer is too long") }
            return nil
        }
        pending.moveReaderIndex(forwardBy: line.end)
        return line.value
    }

    /// Takes up to `limit` bytes of body, keeps the first of an error's. Returns what is still to come.
    private mutating func readBody(_ limit: Int) throws(HubAnswerError) -> Int {
        let count = min(limit, pending.readableBytes)
        bodyBytes += count
        guard bodyBytes <= Self.maxBody else { throw HubAnswerError("the answer's body is too long") }
        let room = HubAnswer.maxBody - (answer?.body.count ?? 0)
        if let status = answer?.status, status >= 300, room > 0, count > 0 {
            answer?.body.append(contentsOf: pending.readableBytesView.prefix(min(count, room)))
        }
        pending.moveReaderIndex(forwardBy: count)
        return limit - count
    }
}

extension UnsafeRawBufferPointer {
    /// The empty line that ends a head: where the head's last line ends, and where the body begins.
    fileprivate var endOfHead: Range<Int>? {
        var lineStart = 0
        while lineStart < count {
            guard let end = UnsafeRawBufferPointer(rebasing: self[lineStart...]).firstIndex(of: UInt8(ascii: "\n"))
            else { return nil }
            let isEmpty = end == 0 || end == 1 && self[lineStart] == UInt8(ascii: "\r")
            if isEmpty { return lineStart..<(lineStart + end + 1) }
            lineStart += end + 1
        }
        return nil
    }
}
