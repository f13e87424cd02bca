/// An error with a code that programs act on and a message that people read.
///
/// A message never holds a payload, a token, a credential or a key.
package protocol CodedError: Error, CustomStringConvertible, Equatable {
    associatedtype Code: Hashable, Sendable

    /// The first word of ``description``, for example `storage`.
    static var domain: String { get }

    var code: Code { get }
    /// A description of the error for the reader of a log or a response.
    var message: String { get }
}

extension CodedError {
    package var description: String { "\(Self.domain) \(code): \(message)" }
}

/// Why a file that the configuration names cannot be used.
package struct FileError: CodedError, Hashable {
    package enum Code: Hashable, Sendable {
        /// There is no file at the path.
        case missing
        /// The file exists and cannot be read.
        case unreadable
        /// The file was read and its content is not valid.
        case malformed
    }

    package static var domain: String { "file" }

    package var code: Code
    /// The path as the configuration gives it.
    package var path: String
    /// The error and its remedy, for an operator.
    package var message: String

    package init(_ code: Code, path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    package var description: String { "\(path): \(message)" }
}
