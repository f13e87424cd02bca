/// Why a file or a setting of credentials cannot be used; for the operator.
public struct AuthenticationSetupError: Error, Sendable, Equatable {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unreadable, unwritable, malformed, alreadyExists, notFound, invalidName, invalid
        }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// The file is missing or cannot be read.
        public static let unreadable = Code(.unreadable)
        /// The file cannot be written.
        public static let unwritable = Code(.unwritable)
        /// The file's text does not have its form.
        public static let malformed = Code(.malformed)
        /// The name, or the file, is there already.
        public static let alreadyExists = Code(.alreadyExists)
        /// The name is not in the file.
        public static let notFound = Code(.notFound)
        /// The name is not one of a user or a sender.
        public static let invalidName = Code(.invalidName)
        /// A setting or a password cannot be used.
        public static let invalid = Code(.invalid)

        public var description: String { value.rawValue }
    }

    public var code: Code
    /// One line that says what is wrong and where; never anything secret.
    public var message: String
    /// The line of the file, from 1, where that is known.
    public var line: Int?

    public init(_ code: Code, _ message: String, line: Int? = nil) {
        self.code = code
        self.message = message
        self.line = line
    }
}

extension AuthenticationSetupError: CustomStringConvertible {
    public var description: String { line.map { "line \($0): \(message)" } ?? message }
}
