import Foundations

extension SendCommand {
    /// Sends requests one after another, each to as many recipients as ingest takes at once.
    ///
    /// - Returns: the IDs.
    /// - Throws: the first failure. It says how many recipients had been sent to.
    func send(to recipients: RecipientList, payload text: String, on console: Console) async throws -> [String] {
        let body = try notification(payload: text, now: .now)
        let batches = recipients.batches(payloadBytes: body.payloadJSON.utf8.count)
        let client = try ingest.client()
        let progress = ProgressLine(console)
        defer { progress.clear() }
        var (done, ids) = (0, [String]())
        for (index, names) in batches.enumerated() {
            var part = body
            part.recipients = names
            let response: APIResponse
            do {
                response = try await client.request(
                    .post, "/api/notifications", json: part.json,
                    idempotencyKey: Self.key(idempotencyKey, batch: index, of: batches.count))
            } catch let failure as CommandFailure {
                throw batches.count == 1 ? failure : self.failure(failure, after: done, of: recipients.names.count)
            }
            done += names.count
            progress.clear()
            let new = try SendResponse.ids(response.body)
            ids += new
            if console.isJSON {
                try console.line(response.body.droppingLineEnd)
            } else {
                for id in new { try console.line(id.printable) }
            }
            if batches.count > 1 { progress.show("sent to \(done.grouped) of \(recipients.names.count.grouped)") }
        }
        if batches.count > 1 {
            console.message("sent to \(done.grouped) recipients in \(batches.count.grouped) requests")
        }
        return ids
    }

    /// The idempotency key of a request: the given one, with a number if there are several requests, so that a repeated
    /// command repeats each of them.
    static func key(_ key: String?, batch: Int, of count: Int) -> String? {
        key.map { count == 1 ? $0 : "\($0).\(batch + 1)" }
    }

    /// A failure that says how many recipients had been sent to.
    func failure(_ failure: CommandFailure, after done: Int, of count: Int) -> CommandFailure {
        var failure = failure
        failure.details.append("Sent to \(done.grouped) of \(count.grouped) recipients before that.")
        let advice =
            if isEncrypted {
                "The next recipient may have it or not."
            } else if idempotencyKey == nil {
                "The recipients of the failed request may have it or not: repeat with --idempotency-key next time."
            } else {
                "Run the same command again: nobody gets it twice."
            }
        failure.hint = [failure.hint, advice].compactMap { $0 }.joined(separator: " ")
        return failure
    }
}
