/// Why a setting, a key or a file of credentials cannot be used, for the operator. It never holds a secret.
///
/// Decision: docs/decisions/0030-one-error-for-setups.md
package struct SetupError: CodedError, Hashable {
    /// The codes that a program can handle. A module adds the codes of its own settings.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// The file is missing or cannot be read.
        package static let unreadable = Code(rawValue: "unreadable")
        package static let unwritable = Code(rawValue: "unwritable")
        /// The text does not have its form.
        package static let malformed = Code(rawValue: "malformed")
        /// The name, or the file, exists already.
        package static let alreadyExists = Code(rawValue: "alreadyExists")
        /// The name is not in the file.
        package static let notFound = Code(rawValue: "notFound")
        /// The name cannot be that of a user or a sender.
        package static let invalidName = Code(rawValue: "invalidName")
        /// A setting or a password cannot be used.
        package static let invalid = Code(rawValue: "invalid")
    }

    /// Not a part of ``description``.
    package static var domain: String { "setup" }

    package var code: Code
    /// The error and its place, in one line.
    package var message: String
    /// The line of the text, from 1, if it is known.
    package var line: Int?

    package init(_ code: Code, _ message: String, line: Int? = nil) {
        self.code = code
        self.message = message
        self.line = line
    }

    package var description: String { line.map { "line \($0): \(message)" } ?? message }
}
