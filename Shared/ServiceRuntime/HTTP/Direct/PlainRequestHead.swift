import Domain
import Foundations

/// The head of an HTTP/1.1 request that has nothing unusual: where its parts are in the bytes, and its framing.
///
/// This is no parser of HTTP. It recognises the heads that well-behaved clients send, by the strictest reading of RFC
/// 9112, and leaves all others to the parser of the router: every other line end, blank, character and version, a field
/// that is repeated where it must not be, and every framing but `Content-Length`. So the two cannot disagree on the end
/// of a message (RFC 9112, section 11.2, request smuggling), which a test checks with random heads.
struct PlainRequestHead: Sendable {
    enum Result {
        /// The end of the head has not arrived.
        case incomplete
        case unusual
        case head(PlainRequestHead)
    }

    /// The method, a space and the target.
    private(set) var line = 0..<0
    /// The bytes of the head, with the empty line.
    private(set) var length = 0
    /// The bytes of the body: 0 without a `Content-Length`.
    private(set) var bodyLength = 0
    /// Whether more than the framing is plain: no `Expect`, no `Origin` and no `Content-Encoding`.
    private(set) var isDirect = true
    private(set) var authorization: Range<Int>?
    private(set) var contentType: Range<Int>?
    private(set) var idempotencyKey: Range<Int>?
    private(set) var requestID: Range<Int>?
    private(set) var traceparent: Range<Int>?
    private(set) var forwarded: Range<Int>?
    private(set) var forwardedFor: Range<Int>?
    private(set) var host: Range<Int>?
    private var contentLength: Range<Int>?

    /// Heads with more bytes are unusual.
    static let maxLength = 16_384
    private static let maxFields = 100

    private static let tokens = ByteSet.alphanumerics.union(ByteSet("!#$%&'*+-.^_`|~"))
    private static let methods: [StaticString] = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"]
    private static let version: StaticString = " HTTP/1.1"

    /// Reads the head at the start of these bytes.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> Result {
        var head = PlainRequestHead()
        switch endOfLine(bytes, from: 0) {
        case .incomplete: return bytes.count <= maxLength ? .incomplete : .unusual
        case .unusual: return .unusual
        case .end(let end): guard head.readRequestLine(bytes, end) else { return .unusual }
        }
        var position = head.line.upperBound + version.utf8CodeUnitCount + 2
        for _ in 0...maxFields {
            switch endOfLine(bytes, from: position) {
            case .incomplete: return bytes.count <= maxLength ? .incomplete : .unusual
            case .unusual: return .unusual
            case .end(position):
                head.length = position + 2
                return head.isValid && head.length <= maxLength ? .head(head) : .unusual
            case .end(let end):
                guard head.readField(bytes, position..<end) else { return .unusual }
                position = end + 2
            }
        }
        return .unusual
    }

    /// Calls a function with the places of each field's name and value, in their order. The bytes are those that the
    /// head was read from.
    func forEachField(_ bytes: UnsafeRawBufferPointer, _ body: (_ name: Range<Int>, _ value: Range<Int>) -> Void) {
        var position = line.upperBound + Self.version.utf8CodeUnitCount + 2
        while case .end(let end) = Self.endOfLine(bytes, from: position), end > position {
            if let (name, value) = Self.split(bytes, position..<end) { body(name, value) }
            position = end + 2
        }
    }

    /// RFC 9112, section 3.2: there is exactly one `Host`.
    private var isValid: Bool { host != nil }

    private enum Line {
        case incomplete
        case unusual
        /// The index of the carriage return.
        case end(Int)
    }

    private static func endOfLine(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Line {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x0D {
                guard index + 1 < bytes.count else { return .incomplete }
                return bytes[index + 1] == 0x0A ? .end(index) : .unusual
            }
            // Visible characters and spaces. Tabs are unusual.
            guard (0x20...0x7E).contains(byte) else { return .unusual }
            index += 1
        }
        return .incomplete
    }

    private mutating func readRequestLine(_ bytes: UnsafeRawBufferPointer, _ end: Int) -> Bool {
        let targetEnd = end - Self.version.utf8CodeUnitCount
        guard targetEnd > 0, Self.equal(bytes, targetEnd..<end, Self.version),
            let method = Self.methods.first(where: { method in
                let count = method.utf8CodeUnitCount
                return targetEnd > count + 1 && bytes[count] == 0x20 && Self.equal(bytes, 0..<count, method)
            })
        else { return false }
        let target = (method.utf8CodeUnitCount + 1)..<targetEnd
        guard bytes[target.lowerBound] == UInt8(ascii: "/") else { return false }
        for index in target where bytes[index] == 0x20 { return false }
        line = 0..<targetEnd
        return true
    }

    private mutating func readField(_ bytes: UnsafeRawBufferPointer, _ field: Range<Int>) -> Bool {
        guard let (name, value) = Self.split(bytes, field) else { return false }
        return note(bytes, name: name, value: value)
    }

    /// The places of a field's name and value, without the blanks around it.
    private static func split(
        _ bytes: UnsafeRawBufferPointer, _ field: Range<Int>
    ) -> (name: Range<Int>, value: Range<Int>)? {
        var nameEnd = field.lowerBound
        while nameEnd < field.upperBound, bytes[nameEnd] != UInt8(ascii: ":") {
            guard tokens.contains(bytes[nameEnd]) else { return nil }
            nameEnd += 1
        }
        guard nameEnd > field.lowerBound, nameEnd < field.upperBound else { return nil }
        var (start, end) = (nameEnd + 1, field.upperBound)
        while start < end, bytes[start] == 0x20 { start += 1 }
        while start < end, bytes[end - 1] == 0x20 { end -= 1 }
        return (field.lowerBound..<nameEnd, start..<end)
    }

    /// Notes a field that matters here.
    ///
    /// - Returns: `false` if the request is unusual.
    private mutating func note(_ bytes: UnsafeRawBufferPointer, name: Range<Int>, value: Range<Int>) -> Bool {
        func isNamed(_ wanted: StaticString) -> Bool { Self.equal(bytes, name, wanted, ignoringCase: true) }
        switch name.count {
        case 4 where isNamed("host"):
            return Self.set(&host, value) && value.allSatisfy { HostHandler.allowed.contains(bytes[$0]) }
        case 6 where isNamed("expect"), 6 where isNamed("origin"): isDirect = false
        case 7 where isNamed("upgrade"): return false
        case 9 where isNamed("forwarded"): return Self.set(&forwarded, value)
        case 10 where isNamed("connection"): return Self.equal(bytes, value, "keep-alive", ignoringCase: true)
        case 11 where isNamed("traceparent"): return Self.set(&traceparent, value)
        case 12 where isNamed("content-type"): return Self.set(&contentType, value)
        case 12 where isNamed("x-request-id"): return Self.set(&requestID, value)
        case 13 where isNamed("authorization"): return Self.set(&authorization, value)
        case 14 where isNamed("content-length"): return Self.set(&contentLength, value) && readLength(bytes, value)
        case 15 where isNamed("idempotency-key"): return Self.set(&idempotencyKey, value)
        case 15 where isNamed("x-forwarded-for"): return Self.set(&forwardedFor, value)
        case 16 where isNamed("content-encoding"): isDirect = false
        case 17 where isNamed("transfer-encoding"): return false
        default: break
        }
        return true
    }

    /// `Content-Length = 1*DIGIT` (RFC 9110, section 8.6), here with at most 12 digits.
    private mutating func readLength(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Bool {
        guard (1...12).contains(value.count) else { return false }
        for index in value {
            guard ByteSet.digits.contains(bytes[index]) else { return false }
            bodyLength = bodyLength * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        return true
    }

    private static func set(_ place: inout Range<Int>?, _ value: Range<Int>) -> Bool {
        guard place == nil else { return false }
        place = value
        return true
    }

    private static func equal(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ text: StaticString, ignoringCase: Bool = false
    ) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        for index in range {
            let byte = bytes[index]
            let isUpper = ignoringCase && byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            guard (isUpper ? byte | 0x20 : byte) == text.utf8Start[index - range.lowerBound] else { return false }
        }
        return true
    }
}
