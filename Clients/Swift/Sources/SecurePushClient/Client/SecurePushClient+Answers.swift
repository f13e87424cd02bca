import Foundation

extension SecurePushClient {
    /// Answers a notification whose sender asks for that (`Answers`), such as with `approve`. The first answer of the
    /// user's devices counts. The same answer again is no error, so a call whose result was lost can be repeated. The
    /// notification counts as read then, and leaves the screen.
    ///
    /// - Parameters:
    ///   - action: the ID of one of the sender's answers. The actions of a message usually have the same IDs.
    ///   - text: what the user has written, at most 2,000 bytes.
    ///   - challenge: the digits or letters that the sender shows elsewhere, and that the user has entered here.
    /// - Throws: ``AnswerFailure``.
    public func answer(
        _ id: PushID, action: String, text: String? = nil, challenge: String? = nil
    ) async throws(AnswerFailure) {
        let deadline = begin().deadline
        let device = (try? await keeper.read())?.registration.installationID.map(Self.text)
        let body = AnswerBody(Action: action, Text: text, Challenge: challenge, DeviceId: device)
        let call = RetrievalCall(
            method: "POST", path: "api/notifications/\(id)/answer", json: try? JSONEncoder().encode(body), success: 204)
        switch await connection.send(call, until: deadline) {
        case .success: await finishReading([id], until: deadline)
        case .refused(409): throw .answeredDifferently
        case .refused(410): throw .over
        case .refused(422): throw .wrong
        case .refused(let status): throw .failed(.status(status))
        case .failed(let code), .loggedOut(let code): throw .failed(code)
        case .locked: throw .failed(.locked)
        }
    }

    /// In the server's names.
    private struct AnswerBody: Encodable {
        var Action: String
        var Text: String?
        var Challenge: String?
        var DeviceId: String?
    }
}

/// Why an answer does not count.
public enum AnswerFailure: Error, Sendable, Hashable {
    /// Another answer was given before, by this device or another one of the user.
    case answeredDifferently
    /// The notification has expired or was revoked, or the challenge was wrong too often.
    case over
    /// The sender does not ask for this answer, or the challenge is wrong. The user may try again.
    case wrong
    /// The server was not reached, or has refused the request. The code says more.
    case failed(DiagnosticCode)
}

extension AnswerFailure: CustomStringConvertible {
    /// The failure in one English sentence, without a secret.
    public var description: String {
        switch self {
        case .answeredDifferently: "Another answer was given before."
        case .over: "Nobody can answer any more."
        case .wrong: "The answer or the challenge is wrong."
        case .failed(let code): "The answer could not be sent (\(code))."
        }
    }
}
