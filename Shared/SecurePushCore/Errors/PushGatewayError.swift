/// Why the hub did not do what it was asked; sends are answered by ``SendOutcome`` instead.
public struct PushGatewayError: Error, Sendable {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case gone, throttled, unavailable, rejected, unauthorized }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// 410: the hub has given up this registration ID; the device makes a new one.
        public static let gone = Code(.gone)
        /// 429, or 403 with `Retry-After`.
        public static let throttled = Code(.throttled)
        /// 408, 5xx, no answer in time or no connection.
        public static let unavailable = Code(.unavailable)
        /// 400 and the like: the hub does not take this request.
        public static let rejected = Code(.rejected)
        /// 401, or 403 without `Retry-After`: the hub does not take our credentials.
        public static let unauthorized = Code(.unauthorized)

        public var description: String { value.rawValue }
    }

    public var code: Code
    public var message: String
    public var retryAfter: Duration?

    public init(_ code: Code, _ message: String, retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }
}

extension PushGatewayError: CustomStringConvertible {
    public var description: String { "hub \(code): \(message)" }
}
