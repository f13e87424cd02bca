import NIOCore
import SecurePushCore

/// One send under way: what to send, by when, and whom to tell.
struct HubSend: Sendable {
    let notification: HubNotification
    let submitted: NIODeadline
    let deadline: NIODeadline
    let completion: @Sendable (SendOutcome) -> Void
}
