/// Why a message was not confirmed by the broker. Every one is retriable: the outbox publishes again.
public struct MessagingError: Error, Sendable {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case notConnected, blocked, nacked, returned, timeout, connectionLost, full }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        public static let notConnected = Code(.notConnected)
        /// The broker takes no messages (`connection.blocked`: a memory or disk alarm).
        public static let blocked = Code(.blocked)
        /// The broker refused it (`basic.nack`).
        public static let nacked = Code(.nacked)
        /// No queue would have it (`basic.return`).
        public static let returned = Code(.returned)
        /// No confirm in time.
        public static let timeout = Code(.timeout)
        /// The connection broke before the confirm.
        public static let connectionLost = Code(.connectionLost)
        /// More is in flight than allowed.
        public static let full = Code(.full)

        public var description: String { value.rawValue }
    }

    public var code: Code
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension MessagingError: CustomStringConvertible {
    public var description: String { "messaging \(code): \(message)" }
}
