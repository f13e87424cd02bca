import Domain
import Foundations

/// The answer of `GET /admin/api/dead-letters`.
struct DeadLetterReport: Encodable, Sendable {
    /// The letters of one notification, or one letter that cannot be read.
    struct Item: Encodable, Sendable {
        /// Missing if the letter cannot be read.
        var id: String?
        /// How many of the letters are the notification's.
        var letters = 1
        /// Missing if the store does not know the notification.
        var recipient: String?
        var acceptedAt: String?
        /// When the last platform was given up; missing if none is dead in the store.
        var diedAt: String?
        /// Of the newest of its letters.
        var reason: String
        /// Missing for all platforms.
        var platforms: [String]?
        /// The length of its letters.
        var bytes: Int

        fileprivate init(_ letter: DeadLetter, _ record: NotificationRecord?) {
            id = letter.message?.id.description
            recipient = record?.recipient.text
            acceptedAt = letter.message?.id.timestamp.description
            diedAt = record?.deliveries.filter { $0.state == .dead }.map(\.updatedAt).max()?.description
            reason = String(letter.reason.prefix(500))
            platforms = letter.message?.platforms?.map(\.rawValue)
            bytes = letter.byteCount
        }

        fileprivate mutating func add(_ other: Item) {
            letters += 1
            bytes += other.bytes
            reason = other.reason
            if let known = platforms, let more = other.platforms {
                platforms = known + more.filter { !known.contains($0) }
            } else {
                platforms = nil
            }
        }
    }

    /// The letters in the queue.
    var total: Int
    /// The oldest of them, by notification.
    var deadLetters: [Item] = []

    init(_ letters: [DeadLetter], total: Int, records: [NotificationID: NotificationRecord]) {
        self.total = total
        var places: [NotificationID: Int] = [:]
        for letter in letters {
            let id = letter.message?.id
            let item = Item(letter, id.flatMap { records[$0] })
            if let place = id.flatMap({ places[$0] }) {
                deadLetters[place].add(item)
            } else {
                if let id { places[id] = deadLetters.count }
                deadLetters.append(item)
            }
        }
    }
}
