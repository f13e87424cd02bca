import Domain
import Foundations

extension CreateNotificationRequest {
    /// Reads `Answers` and `Challenge`.
    mutating func readQuestion(_ json: inout JSONObjectReader) {
        let asks = json.contains("Answers", isNull: false)
        answers = json.optional("Answers", .options) ?? []
        challenge = json.optional("Challenge", .challenge)
        if challenge != nil, !asks { json.note("A challenge needs Answers.", at: "Challenge") }
    }

    /// The question to a recipient. Of the challenge the store gets only a fingerprint.
    func question(of id: NotificationID, to recipient: UserName, _ sealer: PayloadSealer) -> Question? {
        if answers.isEmpty { return nil }
        let context = Question.challengeContext(id, recipient: recipient)
        return Question(
            options: answers, challenge: challenge.map { sealer.fingerprint(of: Array($0.utf8), context: context) })
    }
}

extension JSONRule<[String]> {
    /// IDs of answers, each once.
    fileprivate static var options: JSONRule {
        JSONRule { json in
            guard let count = json.count() else { return nil }
            guard Question.optionCount.contains(count) else {
                json.note("There must be 1 to 5 answers, not \(count).")
                return nil
            }
            var options: [String] = []
            json.elements { json in
                guard let option = json.read(.option) else { return }
                if options.contains(option) { return json.note("The answer is repeated.") }
                options.append(option)
            }
            return options
        }
    }
}

extension JSONRule<String> {
    fileprivate static var option: JSONRule {
        .string("An answer is 1 to 32 of a-z 0-9 -.") { Question.isOption($0) ? $0 : nil }
    }

    fileprivate static var challenge: JSONRule {
        .string("A challenge is 1 to 16 digits or letters of ASCII.") { Question.isChallenge($0) ? $0 : nil }
    }
}
