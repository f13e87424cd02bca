import Domain

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A response that cannot be read as HTTP/1.1.
struct HubResponseError: Error, Equatable {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}

/// The status line of a response and the header fields that matter here, read in one pass over the bytes.
///
/// It is strict where two readers could disagree on where a response ends (RFC 9112, section 6).
struct HubResponseHead: Equatable {
    /// How the end of the body is found.
    enum Framing: Equatable {
        case length(Int)
        case chunked
        case untilClose
    }

    var response: HubResponse
    var framing: Framing

    private var contentLength: Int?
    private var isChunked = false
    private var saysClose = false
    private var saysKeepAlive = false

    /// Reads a head without the empty line after it.
    init(_ bytes: UnsafeRawBufferPointer) throws(HubResponseError) {
        var lines = HTTPLines(bytes)
        guard let statusLine = lines.next() else { throw HubResponseError("no status line") }
        let (status, isVersion11) = try Self.status(statusLine)
        response = HubResponse(status: status)
        framing = .untilClose
        while let line = lines.next() { try read(line) }
        framing = decidedFraming
        response.keepsAlive = !saysClose && (isVersion11 || saysKeepAlive) && framing != .untilClose
    }

    /// `HTTP/1.1 201 Created`.
    private static func status(_ line: UnsafeRawBufferPointer) throws(HubResponseError) -> (Int, Bool) {
        guard line.count >= 12, line.begins(with: "HTTP/1."), line[8] == UInt8(ascii: " "),
            line[7] == UInt8(ascii: "1") || line[7] == UInt8(ascii: "0"),
            let status = HTTPNumber.decimal(UnsafeRawBufferPointer(rebasing: line[9..<12])), status >= 100,
            line.count == 12 || line[12] == UInt8(ascii: " ")
        else { throw HubResponseError("the response is not HTTP/1.1") }
        return (status, line[7] == UInt8(ascii: "1"))
    }

    private mutating func read(_ line: UnsafeRawBufferPointer) throws(HubResponseError) {
        guard let colon = line.position(of: UInt8(ascii: ":")), colon > 0, line[0] > UInt8(ascii: " "),
            line[colon - 1] > UInt8(ascii: " ")
        else { throw HubResponseError("a header field of the response is malformed") }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]).trimmed
        // The length is compared first, because most fields are not among these.
        switch colon {
        case 4 where response.status == 401 && name.isEqual(lowercased: "date"):
            response.date = String(decoding: value, as: UTF8.self)
        case 8 where name.isEqual(lowercased: "location"): response.messageID = HubMessageID.inLocation(value)
        case 10 where name.isEqual(lowercased: "connection"):
            saysClose = saysClose || value.hasToken("close")
            saysKeepAlive = saysKeepAlive || value.hasToken("keep-alive")
        case 11 where name.isEqual(lowercased: "retry-after"):
            response.retryAfter = String(decoding: value, as: UTF8.self)
        case 14 where name.isEqual(lowercased: "content-length"):
            guard let length = HTTPNumber.decimal(value), contentLength == nil || contentLength == length
            else { throw HubResponseError("the response's length is unclear") }
            contentLength = length
        case 17 where name.isEqual(lowercased: "transfer-encoding"):
            guard value.isEqual(lowercased: "chunked"), !isChunked
            else { throw HubResponseError("the response's transfer encoding is unknown") }
            isChunked = true
        case 18 where name.isEqual(lowercased: "securepush-outcome"):
            if value.count <= MessageOutcome.maxText { response.deviceOutcome = String(decoding: value, as: UTF8.self) }
        default: break
        }
        if contentLength != nil && isChunked { throw HubResponseError("the response has two lengths") }
    }

    private var decidedFraming: Framing {
        if response.status < 200 || response.status == 204 || response.status == 304 { return .length(0) }
        if isChunked { return .chunked }
        return contentLength.map(Framing.length) ?? .untilClose
    }
}

/// The lines of a head, each without its CR LF.
private struct HTTPLines: IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func next() -> UnsafeRawBufferPointer? {
        guard !rest.isEmpty else { return nil }
        let end = rest.position(of: UInt8(ascii: "\n")) ?? rest.count
        let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(end + 1, rest.count)...])
        return line.last == UInt8(ascii: "\r") ? UnsafeRawBufferPointer(rebasing: line.dropLast()) : line
    }
}

/// The numbers of HTTP: digits only, no sign, no blanks.
enum HTTPNumber {
    static func decimal(_ digits: UnsafeRawBufferPointer) -> Int? {
        guard (1...15).contains(digits.count) else { return nil }
        var value = 0
        for digit in digits {
            guard (48...57).contains(digit) else { return nil }
            value = value * 10 + Int(digit - 48)
        }
        return value
    }

    static func hexadecimal(_ digits: UnsafeRawBufferPointer) -> Int? {
        guard (1...8).contains(digits.count) else { return nil }
        var value = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | Int(digit - 48)
            case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
                value = value << 4 | Int((digit | 0x20) - 87)
            default: return nil
            }
        }
        return value
    }
}

extension UnsafeRawBufferPointer {
    /// The position of the first such byte. The C library looks at many bytes at once.
    func position(of byte: UInt8) -> Int? {
        guard let baseAddress, let found = memchr(baseAddress, Int32(byte), count) else { return nil }
        return baseAddress.distance(to: UnsafeRawPointer(found))
    }

    fileprivate func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// Whether the bytes, in lower case, are equal to a text.
    fileprivate func isEqual(lowercased text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for position in 0..<count where lower(self[position]) != text.utf8Start[position] { return false }
        return true
    }

    /// The bytes without blanks and tabs around them.
    var trimmed: UnsafeRawBufferPointer {
        var start = 0
        var end = count
        while start < end, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
        while end > start, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[start..<end])
    }

    /// Whether a comma-separated list has this element.
    fileprivate func hasToken(_ token: StaticString) -> Bool {
        split(separator: UInt8(ascii: ",")).contains {
            UnsafeRawBufferPointer(rebasing: $0).trimmed.isEqual(lowercased: token)
        }
    }

    private func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
