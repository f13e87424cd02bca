package import Foundations

/// The questions of notifications, and the answers of their recipients.
package protocol AnswerStore: Sendable {
    /// The question of a notification, if the notification belongs to this user.
    func question(_ id: NotificationID, recipient: UserName) async throws -> OpenQuestion?

    /// Stores the answer, unless there is one, too many challenges were wrong, or the sender has revoked the
    /// notification. Of several concurrent calls at most one stores its answer, whichever processes make them.
    ///
    /// - Parameter textUntil: when the answer's text is destroyed.
    /// - Returns: whether this call has stored it. If not, ``question(_:recipient:)`` tells why.
    func answer(_ id: NotificationID, _ answer: Answer, textUntil: Timestamp) async throws -> Bool

    /// Counts a wrong challenge, under the conditions of ``answer(_:_:textUntil:)``: so among concurrent guesses only
    /// those before the last wrong one can be right.
    ///
    /// - Returns: the number of wrong challenges with this one; `nil` if the question had ended before.
    func countWrongChallenge(_ id: NotificationID) async throws -> Int?
}
