extension RecordLog: PushFeedbackSource {
    func feedback(hubKey: String) -> [PushFeedback] {
        records(after: nil, limit: nil).filter { $0.hub.lowercased() == hubKey }.flatMap { record in
            record.results.filter { PushFeedback.outcomes.contains($0.outcome.rawValue) }.map { result in
                PushFeedback(
                    time: record.completedAt ?? record.receivedAt, error: result.outcome.rawValue,
                    platform: result.format, handle: result.handle, messageID: record.id)
            }
        }
    }
}
