import Foundation

/// Credentials for the retrieval service. They do not show in descriptions.
public enum ClientCredentials: Sendable, Hashable {
    /// A JSON Web Token.
    case bearer(String)
    /// A user name and a password.
    case basic(userName: String, password: String)

    /// The value of the header `Authorization`.
    public var authorization: String {
        switch self {
        case .bearer(let token): "Bearer \(token)"
        case .basic(let userName, let password):
            "Basic \(Data("\(userName):\(password)".utf8).base64EncodedString())"
        }
    }
}

extension ClientCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of the credentials, without their values.
    public var description: String {
        switch self {
        case .bearer: "bearer token"
        case .basic: "user name and password"
        }
    }

    /// The same as ``description``, so that a debugger shows no credential.
    public var debugDescription: String { description }

    /// No children, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Gives the client the user's credentials. ``TokenCredentialsProvider`` is the usual one; an app with a session of its
/// own writes one.
public protocol CredentialsProvider: Sendable {
    /// The user to whom the device belongs; `nil` when nobody is logged in. The name stays while the credentials are
    /// expired: the signature of a push is made for it.
    func userName() async -> String?

    /// The credentials to use now; `nil` if the user has to log in.
    ///
    /// - Throws: when it is not known now, for example because the network is down or the store is locked. The client
    ///   then shows the generic text instead of the prompt.
    func credentials() async throws -> ClientCredentials?

    /// New credentials after the server refused the old ones (401). The client asks once per fetch.
    ///
    /// Many fetches may ask at the same time, with the same refused credentials. One exchange serves them all.
    ///
    /// - Parameter refused: the credentials that were refused.
    /// - Returns: other credentials; `nil` if the user has to log in.
    /// - Throws: when it is not known now, as in ``credentials()``.
    func refresh(after refused: ClientCredentials) async throws -> ClientCredentials?
}

/// Credentials that never change, for tools and tests.
public struct FixedCredentialsProvider: Sendable {
    private let name: String
    private let value: ClientCredentials?

    /// Makes a provider.
    ///
    /// - Parameters:
    ///   - userName: the user of the device.
    ///   - credentials: the credentials; `nil` for a device that nobody is logged in to.
    public init(userName: String, credentials: ClientCredentials?) {
        name = userName
        value = credentials
    }
}

extension FixedCredentialsProvider: CredentialsProvider {
    /// The user of ``init(userName:credentials:)``.
    public func userName() async -> String? { name }

    /// The credentials of ``init(userName:credentials:)``, always the same.
    public func credentials() async throws -> ClientCredentials? { value }

    /// Always `nil`: fixed credentials that the server refused cannot be renewed.
    public func refresh(after refused: ClientCredentials) async throws -> ClientCredentials? { nil }
}
