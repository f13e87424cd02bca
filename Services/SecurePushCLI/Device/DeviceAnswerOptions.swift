import ArgumentParser
import Domain
import SecurePushClient

/// The options with which a simulated device answers notifications.
struct DeviceAnswerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Answer each notification with this, as its user would by a button.", valueName: "id"))
    var answer: String?

    @Option(help: ArgumentHelp("With --answer: a text for the sender, at most 2,000 bytes.", valueName: "text"))
    var answerText: String?

    @Option(
        help: ArgumentHelp("With --answer: the challenge that the sender shows and the user types.", valueName: "text"))
    var challenge: String?

    func validate() throws {
        if answer == nil, answerText != nil || challenge != nil {
            throw ValidationError("--answer-text and --challenge need --answer.")
        }
        if (answerText?.utf8.count ?? 0) > Question.maxTextBytes {
            throw ValidationError("--answer-text may have at most 2,000 bytes.")
        }
    }

    /// The event of the answer to a notification. A refusal is an event too: a person would try again.
    func event(answering id: PushID, by client: SecurePushClient) async -> DeviceEvent? {
        guard let answer else { return nil }
        do {
            try await client.answer(id, action: answer, text: answerText, challenge: challenge)
            return DeviceEvent(.answered, id: id.rawValue, text: answer)
        } catch {
            return DeviceEvent(.answered, id: id.rawValue, text: answer, reason: "\(error)")
        }
    }
}
