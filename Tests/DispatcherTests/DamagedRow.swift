import Domain
import Foundation
import GRDB
import Testing

@testable import Storage

extension Store {
    /// Makes the row of a notification unreadable, as a manual change in the database could.
    func damage(_ id: NotificationID) async throws {
        let store = try #require(self as? SQLiteStore)
        try await withCheckedThrowingContinuation { (caller: CheckedContinuation<Void, any Error>) in
            store.database.write { db in
                try db.execute(
                    sql: "UPDATE notifications SET deliveries = 'no JSON' WHERE id = ?", arguments: [Data(id.bytes)])
            } completion: {
                caller.resume(with: $0.mapError(\.error))
            }
        }
    }
}
