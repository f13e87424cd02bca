import Foundation

/// What a request presents in `Authorization`.
enum Credentials: Sendable, Equatable {
    /// A device's token, or a sender's API key.
    case bearer(String)
    case basic(user: String, password: String)

    /// The header's value (RFC 6750, 2.1; RFC 7617, 2, in UTF-8).
    var authorization: String {
        switch self {
        case .bearer(let token): "Bearer \(token)"
        case .basic(let user, let password): "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
        }
    }
}
