import Domain
import Foundations

// A row of `answers` has all that decides whether an answer is stored, so that one statement on one row decides it: of
// two that come at once, the second sees what the first has stored. It does not compare the expiry, because that never
// changes.
extension SQLStore {
    func question(_ id: NotificationID, recipient: UserName) async throws -> OpenQuestion? {
        try await first(
            """
            SELECT n.expires_at, n.not_before, n.revoked_at IS NOT NULL, n.read_at IS NOT NULL, n.display,
                a.options, a.challenge, coalesce(a.wrong_challenges, 0), \(raw: Answer.columns), a.text_key,
                a.text_sealed
            FROM notifications AS n LEFT JOIN answers AS a ON a.notification_id = n.id
            WHERE n.id = \(id) AND n.recipient = \(recipient)
            """
        ) { row in
            let state = ReadingState(
                expiresAt: try row(), notBefore: try row(), isRevoked: try row(), isRead: try row(),
                display: try Display(stored: row()))
            let options: String? = try row()
            let challenge: [UInt8]? = try row()
            let question = options.map {
                Question(options: StorageCoding.decodeOptions($0), challenge: challenge)
            }
            let wrong: Int = try row()
            var answer = try Answer(&row)
            answer?.text = try SealedPayload(ifPresent: &row)
            return OpenQuestion(state: state, question: question, wrongChallenges: wrong, answer: answer)
        }
    }

    func answer(_ id: NotificationID, _ answer: Answer, textUntil: Timestamp) async throws -> Bool {
        try await run(
            """
            UPDATE answers SET action = \(answer.action), answered_at = \(answer.at), device_id = \(answer.deviceID),
                text_key = \(answer.text?.keyID), text_sealed = \(answer.text?.bytes),
                text_until = \(answer.text == nil ? nil : textUntil)
            WHERE notification_id = \(id) AND \(Self.isOpen)
            """) > 0
    }

    func countWrongChallenge(_ id: NotificationID) async throws -> Int? {
        try await change(
            """
            UPDATE answers SET wrong_challenges = wrong_challenges + 1 WHERE notification_id = \(id) AND \(Self.isOpen)
            RETURNING wrong_challenges
            """
        ) { row in try row() as Int }.first
    }

    private static var isOpen: SQL {
        """
        answered_at IS NULL AND is_closed = 0 AND wrong_challenges < \(raw: "\(Question.maxWrongChallenges)")
        """
    }
}

extension Answer {
    /// The columns of an answer, without its text, in `answers AS a`.
    static let columns = "a.action, a.answered_at, a.device_id"

    /// Reads ``columns``; `nil` if there is no answer.
    init?(_ row: inout SQLRow) throws {
        let (action, at, deviceID): (String?, Timestamp?, String?) = (try row(), try row(), try row())
        guard let action, let at else { return nil }
        self.init(action: action, at: at, deviceID: deviceID)
    }
}

extension SealedPayload {
    /// Reads the key's ID and the bytes; `nil` if there are none.
    init?(ifPresent row: inout SQLRow) throws {
        let (keyID, bytes): (String?, [UInt8]?) = (try row(), try row())
        guard let keyID, let bytes else { return nil }
        self.init(keyID: keyID, bytes: bytes)
    }
}

extension StorageCoding {
    /// The options of a question, separated by commas.
    static func encode(options: [String]) -> String { options.joined(separator: ",") }

    static func decodeOptions(_ text: String) -> [String] { text.split(separator: ",").map { String($0) } }
}
