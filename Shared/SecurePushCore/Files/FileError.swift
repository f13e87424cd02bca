/// Why a file that the configuration names cannot be used.
public struct FileError: Error, Sendable, Hashable {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case missing, unreadable, malformed }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// There is no file at the path.
        public static let missing = Code(.missing)
        /// It is there and cannot be read.
        public static let unreadable = Code(.unreadable)
        /// It can be read and does not hold what it should.
        public static let malformed = Code(.malformed)

        public var description: String { value.rawValue }
    }

    public var code: Code
    public var path: String
    /// What is wrong and what to do about it, for an operator; never anything secret of the content.
    public var message: String

    public init(_ code: Code, path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }
}

extension FileError: CustomStringConvertible {
    public var description: String { "\(path): \(message)" }
}
