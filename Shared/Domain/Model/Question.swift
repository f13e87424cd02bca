package import Foundations

/// The answers among which a recipient may choose one, as the sender asked for them with `Answers` and `Challenge`.
package struct Question: Sendable, Hashable {
    /// The IDs of the possible answers, in the sender's order, without repetition.
    package var options: [String]
    /// The fingerprint of the text that the device has to send; `nil` if the sender asked for none. See
    /// ``PayloadSealer/fingerprint(of:context:)`` and ``challengeContext(_:recipient:)``.
    package var challenge: [UInt8]?

    package init(options: [String], challenge: [UInt8]? = nil) {
        self.options = options
        self.challenge = challenge
    }

    /// The number of options.
    package static let optionCount = 1...5
    /// The maximum number of bytes of an answer's text.
    package static let maxTextBytes = 2000
    /// After so many wrong challenges the question cannot be answered any more.
    package static let maxWrongChallenges = 3
    /// How long the text of an answer is kept after the notification has expired, so that its sender has time to read it.
    package static let textRetention = Duration.seconds(86_400)

    /// Whether a text can be the ID of an option: 1 to 32 of `a-z 0-9 -`.
    package static func isOption(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && optionBytes.containsAll(text)
    }

    /// Whether a text can be a challenge: 1 to 16 ASCII digits or letters.
    package static func isChallenge(_ text: String) -> Bool {
        (1...16).contains(text.utf8.count) && ByteSet.alphanumerics.containsAll(text)
    }

    /// Binds a challenge's fingerprint to its notification: equal challenges have different fingerprints, and a
    /// fingerprint that was copied to another row fits nothing.
    package static func challengeContext(_ id: NotificationID, recipient: UserName) -> [UInt8] {
        Array("challenge\0".utf8) + id.bytes + recipient.text.utf8
    }

    private static let optionBytes = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789-")
}

/// A question as it stands, for its recipient's device.
package struct OpenQuestion: Sendable, Hashable {
    /// Whether the recipient can read the notification.
    package var state: ReadingState
    /// `nil` if the sender asked for no answer.
    package var question: Question?
    /// The number of wrong challenges so far.
    package var wrongChallenges: Int
    package var answer: Answer?

    package init(state: ReadingState, question: Question?, wrongChallenges: Int = 0, answer: Answer? = nil) {
        self.state = state
        self.question = question
        self.wrongChallenges = wrongChallenges
        self.answer = answer
    }

    /// Whether too many challenges were wrong.
    package var hasFailed: Bool { answer == nil && wrongChallenges >= Question.maxWrongChallenges }
}

/// The answer of a recipient. There is one at most, and it never changes.
package struct Answer: Sendable, Hashable {
    /// One of ``Question/options``.
    package var action: String
    /// The text beside it, sealed; `nil` if there is none, or if it was destroyed.
    package var text: SealedPayload?
    package var at: Timestamp
    /// The installation that answered, by its own account; `nil` if it gave none.
    package var deviceID: String?

    package init(action: String, text: SealedPayload? = nil, at: Timestamp, deviceID: String? = nil) {
        self.action = action
        self.text = text
        self.at = at
        self.deviceID = deviceID
    }
}

/// How a question ended, for its sender.
package enum AnswerResult: Sendable, Hashable {
    case given(Answer)
    /// Too many challenges were wrong, so nobody can answer any more.
    case failed

    /// The answer; `nil` if there is none.
    package var action: String? {
        if case .given(let answer) = self { answer.action } else { nil }
    }
}
