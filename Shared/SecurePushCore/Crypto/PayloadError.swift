/// Why a payload cannot be sealed or opened.
public struct PayloadError: Error, Sendable {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case unknownKey, notAuthentic, malformed, failed }
        private var value: Value
        private init(_ value: Value) { self.value = value }

        /// The key ring does not hold the key that sealed it.
        public static let unknownKey = Code(.unknownKey)
        /// It was changed, or sealed for another notification or user.
        public static let notAuthentic = Code(.notAuthentic)
        /// It is too short to be a sealed payload.
        public static let malformed = Code(.malformed)
        /// The cipher refused its work.
        public static let failed = Code(.failed)

        public var description: String { value.rawValue }
    }

    public var code: Code
    /// For an operator; never anything of a payload or key.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension PayloadError: CustomStringConvertible {
    public var description: String { "payload \(code): \(message)" }
}
