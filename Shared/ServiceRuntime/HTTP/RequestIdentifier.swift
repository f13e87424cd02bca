package import Foundations
package import HTTPTypes
package import Hummingbird
package import NIOCore

/// The ID of one request: the client's `X-Request-Id`, or a new one.
enum RequestIdentifier {
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// The header's value if it is 1 to 128 visible ASCII characters, else a new ID.
    static func of(_ fields: HTTPFields) -> String { of(fields[.xRequestID]) }

    /// The given value if it is 1 to 128 visible ASCII characters, else a new ID.
    static func of(_ given: String?) -> String {
        guard let given, isValid(given) else { return make() }
        return given
    }

    static func isValid(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && ByteSet.visible.containsAll(text)
    }

    /// 64 bits in 13 characters, which Swift stores without an allocation. No two IDs of a process are the same, because
    /// no two states of the generator give the same number.
    static func make() -> String {
        var generator = SplitMix64.reserving(1)
        var bits = generator.next()
        return String(unsafeUninitializedCapacity: 13) { buffer in
            for index in 0..<13 {
                buffer.initializeElement(at: index, to: alphabet[Int(bits & 31)])
                bits >>= 5
            }
            return 13
        }
    }

    /// The ID as a URI reference (RFC 3986), for `instance` of a problem.
    static func instance(_ identifier: String) -> String { PercentCoding.encode(identifier) }
}

extension HTTPField.Name {
    /// A header's name that is written in the source.
    ///
    /// - Precondition: it is a token (RFC 9110, section 5.6.2).
    package init(static name: StaticString) {
        guard let parsed = HTTPField.Name(name.description) else { preconditionFailure("\(name) is not a header name") }
        self = parsed
    }

    /// `X-Request-Id`, in lower case as in HTTP/2.
    static let xRequestID = HTTPField.Name(static: "x-request-id")
}

extension HTTPFields {
    /// The `traceparent` of a request (W3C Trace Context, section 3.2.2); `nil` if it is missing or not valid.
    package var traceContext: TraceContext? { self[.traceparent].flatMap { TraceContext(traceparent: $0) } }
}

/// The context of a request that can be asked for its body (`100 Continue`).
package protocol ChannelRequestContext: RequestContext {
    /// The connection, or the stream of an HTTP/2 connection.
    var channel: any Channel { get }
}

/// The context of a request, with the address that it came from.
package struct ServiceRequestContext: RequestContext, RemoteAddressRequestContext, ChannelRequestContext {
    /// Hummingbird's own part.
    package var coreContext: CoreRequestContextStorage
    /// The connection, or the stream of an HTTP/2 connection.
    package let channel: any Channel
    /// The client's address: the other end of the connection, or the one that a trusted proxy tells.
    package internal(set) var remoteAddress: SocketAddress?

    /// Called by Hummingbird for each request.
    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        remoteAddress = source.channel.remoteAddress
    }
}

extension RequestContext {
    /// The client's address, for limits per client; `nil` in tests without a port.
    package var clientAddress: ClientAddress? {
        (self as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress.flatMap { ClientAddress($0) }
    }
}
