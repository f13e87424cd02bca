import Foundations

extension SendWait {
    private static let interval = Duration.milliseconds(500)

    /// Waits for the answer of each notification, and prints it: the action alone, after the ID if there are several,
    /// or an object with `--json`.
    ///
    /// - Parameter wanted: the first of `--answers`. Another one is a failure, so that `send … && deploy` is safe.
    /// - Throws: ``CommandFailure``: `otherAnswer`, or `failed` if a notification has no answer and gets none.
    func answers(_ ids: [String], wanted: String, _ client: APIClient, on console: Console) async throws {
        let start = ContinuousClock.now
        var (waiting, ended, others) = (ids.map { (id: $0, status: "") }, [String](), [String]())
        while true {
            var left: [(id: String, status: String)] = []
            for (id, _) in waiting {
                let path = "/api/notifications/\(PercentCoding.encode(id))/status"
                let status = try await client.get(path, as: Wire.Status.self).value
                if let answer = status.answer {
                    try show(answer, of: id, isAlone: ids.count == 1, on: console)
                    if answer.failed == true {
                        ended.append("\(id): too many challenges were wrong")
                    } else if answer.action != wanted {
                        others.append("\(id): \(answer.action ?? "")")
                    }
                } else if status.status == "expired" || status.status == "revoked" {
                    ended.append("\(id): \(status.status)")
                } else {
                    left.append((id, status.status))
                }
            }
            waiting = left
            if waiting.isEmpty || ContinuousClock.now - start >= limit { break }
            try await Task.sleep(for: Self.interval)
        }
        let took = (ContinuousClock.now - start).spoken
        ended += waiting.map { "\($0.id): still \($0.status)" }
        guard ended.isEmpty else {
            throw CommandFailure(
                .failed, "\(ended.count) of \(ids.count) notifications have no answer after \(took).",
                details: (ended + others).map(\.printable), hint: "They were sent. `securepush status ID` shows more.")
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
