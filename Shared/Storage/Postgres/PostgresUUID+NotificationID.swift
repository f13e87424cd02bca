import Postgres
import SecurePushCore

extension PostgresUUID {
    init(_ id: NotificationID) { self.init(high: id.high, low: id.low) }
}

extension NotificationID {
    init(_ uuid: PostgresUUID) { self.init(high: uuid.high, low: uuid.low) }
}
