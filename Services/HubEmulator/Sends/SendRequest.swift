import HTTPTypes

/// A notification that a client asks the hub to send, read and found good.
struct SendRequest: Sendable {
    let kind: RecordedRequest.Kind
    let format: NotificationFormat
    /// The tags header as sent.
    let tags: String?
    /// Nil: everyone, or a direct send.
    let expression: TagExpression?
    /// The handles of a direct or batch send.
    let handles: [String]
    let body: [UInt8]
    let headers: HTTPFields
    let call: HubCall
    let receivedAt: WireTime
    /// When it is to be sent; nil: now.
    var dueAt: WireTime?

    init(
        _ addressing: SendAddressing, handles: [String], body: [UInt8], headers: HTTPFields, call: HubCall,
        dueAt: WireTime? = nil
    ) {
        kind = addressing.kind
        format = addressing.format
        tags = addressing.tags
        expression = addressing.expression
        self.handles = handles
        self.body = body
        self.headers = headers
        self.call = call
        receivedAt = .now
        self.dueAt = dueAt
    }

    /// What it counts as for faults.
    var operation: Fault.Operation {
        switch kind {
        case .direct: .direct
        case .batch: .batch
        case .scheduled: .schedule
        default: .send
        }
    }

    /// The record of it, not named yet.
    func record(effect: FaultEffect) -> RecordedRequest {
        var record = RecordedRequest(
            id: "", kind: kind, hub: call.hub, format: format, tags: tags, headers: headers, body: body,
            receivedAt: receivedAt)
        record.dueAt = dueAt
        if !effect.faultIDs.isEmpty { record.note(effect) }
        return record
    }
}

extension RecordedRequest {
    /// Writes down which faults hit the request, and what the client is told.
    mutating func note(_ effect: FaultEffect) {
        fault = effect.words
        faultIDs = effect.faultIDs
        switch effect.fault?.answer {
        case .status(let status): self.status = status
        case .reset, .silence: isUnanswered = true
        case .usual, nil: break
        }
        guard effect.refuses else { return }
        isAccepted = false
        outcome = .faulted
    }
}
