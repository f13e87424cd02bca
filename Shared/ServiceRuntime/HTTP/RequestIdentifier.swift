public import HTTPTypes
public import Hummingbird
public import NIOCore
public import SecurePushCore
import Synchronization

/// The ID of one request: the client's `X-Request-Id`, or one of ours.
enum RequestIdentifier {
    private static let counter = Atomic<UInt64>(.random(in: .min ... .max))
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// The header's value if it is 1 to 128 visible ASCII characters, else a new ID.
    static func of(_ fields: HTTPFields) -> String {
        guard let given = fields[.xRequestID], isValid(given) else { return make() }
        return given
    }

    static func isValid(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// 64 bits in 13 characters: short enough that Swift keeps the text without an allocation. A counter with a random
    /// start, multiplied by an odd number, so that no two of a process are the same.
    static func make() -> String {
        var bits = counter.wrappingAdd(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
        return String(unsafeUninitializedCapacity: 13) { buffer in
            for index in 0..<13 {
                buffer.initializeElement(at: index, to: alphabet[Int(bits & 31)])
                bits >>= 5
            }
            return 13
        }
    }

    /// As a URI reference (RFC 3986) for `instance`: what no URI may hold is percent-encoded.
    static func instance(_ identifier: String) -> String {
        if identifier.utf8.allSatisfy(isUnreserved) { return identifier }
        var text = ""
        for byte in identifier.utf8 {
            if isUnreserved(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}

extension HTTPField.Name {
    /// `X-Request-Id`, lower case as HTTP/2 has it.
    static let xRequestID: HTTPField.Name = {
        guard let name = HTTPField.Name("x-request-id") else { preconditionFailure("x-request-id is a field name") }
        return name
    }()
}

/// What a route knows of its request beside the request itself: with the address that it came from.
public struct ServiceRequestContext: RequestContext, RemoteAddressRequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The other end of the connection.
    public let remoteAddress: SocketAddress?

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

extension RequestContext {
    /// The client's address, for limits that hold per client; `nil` where there is none, as in a test without a port.
    public var clientAddress: ClientAddress? {
        (self as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress.flatMap { ClientAddress($0) }
    }
}

extension HTTPFields {
    /// The `traceparent` of a request, where it has one that can be read (W3C Trace Context, section 3.2.2).
    public var traceContext: TraceContext? { self[.traceparent].flatMap { TraceContext(traceparent: $0) } }
}
