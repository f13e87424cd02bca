extension RecordLog: MessageTelemetrySource {
    func telemetry(of messageID: String, hubKey: String) -> MessageTelemetry? {
        guard let record = record(id: messageID), record.hub.lowercased() == hubKey, record.isAccepted else {
            return nil
        }
        return record.telemetry
    }
}

extension RecordedRequest {
    /// What the service would tell of a send; nil for what is no send.
    var telemetry: MessageTelemetry? {
        guard kind.isSend else { return nil }
        var outcomes: [NotificationFormat: [String: Int]] = [:]
        for count in outcomeCounts {
            outcomes[count.format, default: [:]][count.outcome.rawValue, default: 0] += count.count
        }
        return MessageTelemetry(
            id: id, state: telemetryState, enqueuedAt: receivedAt, startedAt: completedAt, endedAt: completedAt,
            body: body, tags: tags, targetPlatforms: NotificationFormat.platforms.filter { outcomes[$0] != nil },
            outcomes: outcomes)
    }

    private var telemetryState: MessageTelemetry.State {
        switch outcome {
        case .completed: .completed
        case .noTargetFound: .noTargetFound
        case .scheduled: .scheduled
        case .cancelled: .cancelled
        // Swallowed: the hub took it and does not get on with it.
        case .faulted: .processing
        }
    }
}
