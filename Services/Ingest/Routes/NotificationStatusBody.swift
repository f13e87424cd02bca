import SecurePushCore
import ServiceRuntime

/// The answer to `GET /api/notifications/{id}/status`; members without a value are left out.
struct NotificationStatusBody {
    let record: NotificationRecord
    /// The platforms fanned out to (`HUB_PLATFORMS`).
    let platforms: [Platform]
    let now: Timestamp

    var bytes: [UInt8] {
        var json = JSONWriter(capacity: 512)
        json.open("{")
        json.member("Id", record.id.description)
        json.member("Status", record.status(at: now).rawValue)
        json.member("CreatedAt", record.createdAt.description)
        if let readAt = record.readAt { json.member("ReadAt", readAt.description) }
        json.member("Deliveries")
        json.open("[")
        for delivery in record.deliveries(of: platforms, at: now) { json.append(delivery) }
        json.close("]")
        json.close("}")
        return json.bytes
    }
}

extension NotificationRecord {
    /// What is on record, and while something is owed the platforms that have not had their turn as pending.
    ///
    /// The store holds nothing of a platform before the first attempt; a sender is told of it all the same.
    func deliveries(of served: [Platform], at now: Timestamp) -> [Delivery] {
        let isOwed = dispatchStatus == .accepted || dispatchStatus == .queued
        guard isOwed, revokedAt == nil, expiresAt > now else { return deliveries }
        let owed = platforms ?? served
        let untried = owed.filter { platform in !deliveries.contains { $0.platform == platform } }
        return deliveries + untried.map { Delivery(platform: $0, state: .pending, updatedAt: createdAt) }
    }
}

extension JSONWriter {
    fileprivate mutating func append(_ delivery: Delivery) {
        open("{")
        member("Platform", delivery.platform.rawValue)
        member("State", delivery.state.rawValue)
        member("Attempts")
        number(delivery.attempts)
        if let id = delivery.hubMessageID { member("HubMessageId", id) }
        if let error = delivery.error { member("Error", error) }
        member("UpdatedAt", delivery.updatedAt.description)
        close("}")
    }
}
