import Foundations

/// Why a file or a setting of credentials cannot be used, for the operator.
package struct AuthenticationSetupError: CodedError {
    package enum Code: Hashable, Sendable {
        /// The file is missing or cannot be read.
        case unreadable
        case unwritable
        /// The text of the file does not have its form.
        case malformed
        /// The name, or the file, exists already.
        case alreadyExists
        /// The name is not in the file.
        case notFound
        /// The name cannot be that of a user or a sender.
        case invalidName
        /// A setting or a password cannot be used.
        case invalid
    }

    package static var domain: String { "authentication setup" }

    package var code: Code
    /// The error and its place, in one line and without secrets.
    package var message: String
    /// The line of the file, from 1, if it is known.
    package var line: Int?

    package init(_ code: Code, _ message: String, line: Int? = nil) {
        self.code = code
        self.message = message
        self.line = line
    }

    package var description: String { line.map { "line \($0): \(message)" } ?? message }
}
