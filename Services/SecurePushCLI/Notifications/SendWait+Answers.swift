import Foundations

extension SendWait {
    /// A person answers, so half a second does not matter.
    private static let answerInterval = Duration.milliseconds(500)

    /// Waits for the answer of each notification, and prints it: the action alone, after the ID if there are several,
    /// or an object with `--json`.
    ///
    /// - Parameter wanted: the first of `--answers`. Another one is a failure, so that `send … && deploy` is safe.
    /// - Throws: ``CommandFailure``: `otherAnswer`, or `failed` if a notification has no answer and gets none.
    func answers(_ ids: [String], wanted: String, _ client: APIClient, on console: Console) async throws {
        var (ended, others) = ([String](), [String]())
        let (waiting, took) = try await follow(ids, every: Self.answerInterval, client) { id, status in
            if let answer = status.answer {
                try show(answer, of: id, isAlone: ids.count == 1, on: console)
                if answer.failed == true {
                    ended.append("\(id): too many challenges were wrong")
                } else if answer.action != wanted {
                    others.append("\(id): \(answer.action ?? "")")
                }
                return true
            }
            guard ["expired", "revoked"].contains(status.status) else { return false }
            ended.append("\(id): \(status.status)")
            return true
        }
        ended += waiting
        guard ended.isEmpty else {
            throw CommandFailure(
                .failed, "\(ended.count) of \(ids.count) notifications have no answer after \(took).",
                details: (ended + others).map(\.printable), hint: Self.hint)
        }
        guard others.isEmpty else {
            throw CommandFailure(
                .otherAnswer, "\(others.count) of \(ids.count) answers are not \(wanted).",
                details: others.map(\.printable))
        }
        if !console.isJSON { console.message("answered after \(took)") }
    }

    private func show(_ answer: Wire.Status.Answer, of id: String, isAlone: Bool, on console: Console) throws {
        guard console.isJSON else {
            guard let action = answer.action?.printable else { return }
            return try console.line(isAlone ? action : "\(id.printable) \(action)")
        }
        var json = JSONWriter()
        json.object { json in
            json.member("Id", id)
            json.object("Answer") { json in
                if let action = answer.action { json.member("Action", action) }
                if let text = answer.text { json.member("Text", text) }
                if let at = answer.at { json.member("At", at) }
                if let deviceID = answer.deviceId { json.member("DeviceId", deviceID) }
                if let failed = answer.failed { json.member("Failed", failed) }
            }
        }
        try console.line(json.text)
    }
}
