/// A token that has just been issued.
public struct IssuedToken: Sendable, Equatable {
    /// The token in compact form.
    public let token: String
    /// How long it is accepted, in seconds.
    public let expiresIn: Int
}
