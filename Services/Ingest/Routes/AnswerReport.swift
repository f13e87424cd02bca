import Domain
import Foundations
import Logging

/// The result of a question, with the decrypted text of the answer.
enum AnswerReport {
    /// - text: `nil` if there is none, it was destroyed, or its key is missing.
    case given(Answer, text: String?)
    case failed

    /// Writes the member `Answer`: `{"Action","Text","At","DeviceId"}` or `{"Failed":true}`.
    func write(to json: inout JSONWriter) {
        json.object("Answer") { json in
            switch self {
            case .given(let answer, let text):
                json.member("Action", answer.action)
                if let text { json.member("Text", text) }
                json.member("At", answer.at.description)
                if let id = answer.deviceID { json.member("DeviceId", id) }
            case .failed:
                json.member("Failed", true)
            }
        }
    }
}

extension NotificationStatusController {
    /// Opens the answer of a notification for its sender. A text that cannot be opened is logged and left out, because
    /// the chosen answer is more important.
    func answer(of record: NotificationRecord, logger: Logger) async -> AnswerReport? {
        switch record.answer {
        case nil: return nil
        case .failed: return .failed
        case .given(let answer):
            do {
                return .given(
                    answer, text: try await sealer.text(of: answer, to: record.id, recipient: record.recipient))
            } catch {
                logger.error(
                    "The text of an answer could not be opened",
                    metadata: ["notification_id": "\(record.id)", "error": "\(error)"])
                return .given(answer, text: nil)
            }
        }
    }
}
