/// The content that a service extension shows in place of the alert of the push.
public struct ServiceContent: Sendable, Equatable {
    /// The kinds of content.
    public enum Kind: Sendable, Equatable {
        /// The secret.
        case secret(SecretNotification)
        /// The generic text.
        case generic(GenericNotice)
        /// The prompt to log in.
        case prompt(LogInPrompt)
        /// Nothing: the secret was shown before, or was withdrawn. Deliver empty content. iOS then shows nothing if the
        /// extension has the entitlement `com.apple.developer.usernotifications.filtering`.
        case nothing
    }

    /// The kind of content.
    public var kind: Kind
    /// The number on the app's icon; `nil` leaves it as it is.
    public var badge: Int?
    /// The text that takes the place of ``Kind/nothing`` where the system cannot suppress an alert.
    var substitute: GenericNotice?

    /// Makes content.
    public init(_ kind: Kind, badge: Int? = nil) {
        self.kind = kind
        self.badge = badge
    }
}
