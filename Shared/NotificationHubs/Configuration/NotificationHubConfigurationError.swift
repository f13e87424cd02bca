/// Why a connection string or hub name cannot be used. The message says what to do and never shows the key.
public struct NotificationHubConfigurationError: Error, Sendable {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case malformed, missingPart, duplicatePart, unknownPart, endpoint, hubName }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// A part is not `name=value`.
        public static let malformed = Code(.malformed)
        /// `Endpoint`, `SharedAccessKeyName` or `SharedAccessKey` is not there, or empty.
        public static let missingPart = Code(.missingPart)
        /// A part is there twice.
        public static let duplicatePart = Code(.duplicatePart)
        /// A part that no connection string has.
        public static let unknownPart = Code(.unknownPart)
        /// The endpoint is no namespace's address, or plain HTTP to another machine.
        public static let endpoint = Code(.endpoint)
        /// No hub name, or one that no hub can have.
        public static let hubName = Code(.hubName)

        public var description: String { value.rawValue }
    }

    public var code: Code
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension NotificationHubConfigurationError: CustomStringConvertible {
    public var description: String { message }
}
