/// Why the store did not do what it was asked.
public struct StorageError: Error, Sendable {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unavailable, overloaded, connectionLost, timeout, migrationNeeded, invalid, failed
        }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// Cannot be reached, or is starting or stopping. Nothing was done.
        public static let unavailable = Code(.unavailable)
        /// More waits to be stored or read than may be held. Nothing was done.
        public static let overloaded = Code(.overloaded)
        /// The connection broke while a statement was under way: it may have been done.
        public static let connectionLost = Code(.connectionLost)
        /// No answer in time: it may have been done.
        public static let timeout = Code(.timeout)
        /// The schema is older or newer than this program; run `securepush migrate`, or the newer program.
        public static let migrationNeeded = Code(.migrationNeeded)
        /// The configuration cannot be used.
        public static let invalid = Code(.invalid)
        /// The database refused a statement.
        public static let failed = Code(.failed)

        public var description: String { value.rawValue }
    }

    public var code: Code
    /// What happened, for an operator; never anything of a payload.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same call may succeed later.
    public var isRetriable: Bool {
        code == .unavailable || code == .overloaded || code == .connectionLost || code == .timeout
    }
}

extension StorageError: CustomStringConvertible {
    public var description: String { "storage \(code): \(message)" }
}
