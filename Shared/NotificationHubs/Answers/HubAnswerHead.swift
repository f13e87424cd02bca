/// An answer that cannot be read as HTTP/1.1.
struct HubAnswerError: Error, Equatable {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}

/// The status line and those header fields of an answer that matter here, read in one pass over the bytes.
///
/// Of our own because NIO's decoder makes a string of each field and wants to see the requests as parts; reading six
/// fields makes none of them. Strict where two readers could disagree on where an answer ends (RFC 9112, section 6).
struct HubAnswerHead: Equatable {
    /// Where the body ends.
    enum Framing: Equatable {
        case length(Int)
        case chunked
        case untilClose
    }

    var answer: HubAnswer
    var framing: Framing

    private var contentLength: Int?
    private var isChunked = false
    private var saysClose = false
    private var saysKeepAlive = false

    /// Reads a head, without the empty line after it.
    init(_ bytes: UnsafeRawBufferPointer) throws(HubAnswerError) {
        var lines = HTTPLines(bytes)
        guard let statusLine = lines.next() else { throw HubAnswerError("no status line") }
        let (status, isVersion11) = try Self.status(statusLine)
        answer = HubAnswer(status: status)
        framing = .untilClose
        while let line = lines.next() { try read(line) }
        framing = decidedFraming
        answer.keepsAlive = !saysClose && (isVersion11 || saysKeepAlive) && framing != .untilClose
    }

    /// `HTTP/1.1 201 Created`.
    private static func status(_ line: UnsafeRawBufferPointer) throws(HubAnswerError) -> (Int, Bool) {
        guard line.count >= 12, line.starts(with: "HTTP/1.".utf8), line[8] == UInt8(ascii: " "),
            line[7] == UInt8(ascii: "1") || line[7] == UInt8(ascii: "0"),
            let status = HTTPNumber.decimal(UnsafeRawBufferPointer(rebasing: line[9..<12])), status >= 100,
            line.count == 12 || line[12] == UInt8(ascii: " ")
        else { throw HubAnswerError("the answer is not HTTP/1.1") }
        return (status, line[7] == UInt8(ascii: "1"))
    }

    private mutating func read(_ line: UnsafeRawBufferPointer) throws(HubAnswerError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0, line[0] > UInt8(ascii: " "),
            line[colon - 1] > UInt8(ascii: " ")
        else { throw HubAnswerError("a header field of the answer is malformed") }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]).trimmed
        // By length first: most fields are none of these.
        switch colon {
        case 4 where answer.status == 401 && name.isEqual(lowercased: "date"):
            answer.date = String(decoding: value, as: UTF8.self)
        case 8 where name.isEqual(lowercased: "location"): answer.messageID = HubMessageID.inLocation(value)
        case 10 where name.isEqual(lowercased: "connection"):
            saysClose = saysClose || value.hasToken("close")
            saysKeepAlive = saysKeepAlive || value.hasToken("keep-alive")
        case 11 where name.isEqual(lowercased: "retry-after"):
            answer.retryAfter = String(decoding: value, as: UTF8.self)
        case 14 where name.isEqual(lowercased: "content-length"):
            guard let length = HTTPNumber.decimal(value), contentLength == nil || contentLength == length
            else { throw HubAnswerError("the answer's length is unclear") }
            contentLength = length
        case 17 where name.isEqual(lowercased: "transfer-encoding"):
            guard value.isEqual(lowercased: "chunked"), !isChunked
            else { throw HubAnswerError("the answer's transfer encoding is unknown") }
            isChunked = true
        default: break
        }
        if contentLength != nil && isChunked { throw HubAnswerError("the answer has two lengths") }
    }

    private var decidedFraming: Framing {
        if answer.status < 200 || answer.status == 204 || answer.status == 304 { return .length(0) }
        if isChunked { return .chunked }
        return contentLength.map(Framing.length) ?? .untilClose
    }
}
