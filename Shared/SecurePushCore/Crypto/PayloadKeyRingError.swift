/// What is wrong with the text of a key ring; never anything of the text itself.
public struct PayloadKeyRingError: Error, Sendable, Hashable {
    /// The line, from 1; `nil` for the text as a whole.
    public var line: Int?
    /// What is wrong and what to do, for an operator.
    public var message: String

    public init(line: Int?, _ message: String) {
        self.line = line
        self.message = message
    }
}

extension PayloadKeyRingError: CustomStringConvertible {
    public var description: String { line.map { "line \($0): \(message)" } ?? message }
}
