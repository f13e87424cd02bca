import Foundation

/// The notifications that the client knows, and how far it has come with each of them.
///
/// This is what keeps a secret from being lost or shown twice when the process dies between two steps:
///
/// 1. `pending` is stored before anything is asked. A later wake goes on with it.
/// 2. `claimed` is stored when the payload is here, before it is shown. Another process leaves it alone. After a crash
///    it is in doubt, and the presenter is asked whether the user sees the secret.
/// 3. `shown` is stored after it was shown.
struct SecretLedger: Codable, Sendable, Equatable {
    enum Progress: Codable, Sendable, Equatable {
        /// To be fetched.
        case pending
        /// Fetched, and about to be shown by this process.
        case claimed(process: String)
        /// Shown. Final.
        case shown
        /// Withdrawn by the sender, or read on another device. Final.
        case withdrawn
        /// The server has no such notification for this user. Another push for it tries again.
        case gone
    }

    struct Entry: Codable, Sendable, Equatable {
        var id: PushID
        var progress: Progress
        /// When the progress changed, in seconds since 1970.
        var at: Double
        /// Whether the user has seen the generic text or the prompt for it.
        var isNoticed = false
    }

    /// In the order in which the client learned of them.
    private(set) var entries: [Entry] = []
}
