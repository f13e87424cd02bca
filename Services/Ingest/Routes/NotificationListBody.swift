import SecurePushCore
import ServiceRuntime

/// The answer to `GET /api/notifications`: what was answered when each was accepted, as it stands now; never a payload.
struct NotificationListBody {
    let page: NotificationPage
    let now: Timestamp

    var bytes: [UInt8] {
        var json = JSONWriter(capacity: 64 + 256 * page.records.count)
        json.open("{")
        json.member("Notifications")
        json.open("[")
        for record in page.records {
            json.open("{")
            json.member("Id", record.id.description)
            json.member("Recipient", record.recipient.text)
            json.member("Status", record.status(at: now).rawValue)
            json.member("CreatedAt", record.createdAt.description)
            json.member("ExpiresAt", record.expiresAt.description)
            if let readAt = record.readAt { json.member("ReadAt", readAt.description) }
            json.close("}")
        }
        json.close("]")
        if let next = page.next { json.member("Next", next.description) }
        json.close("}")
        return json.bytes
    }
}
