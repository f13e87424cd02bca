public import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// The record that an envelope was opened. The same envelope under another notification is a replay.
public struct EnvelopeRecord: Sendable, Hashable {
    /// The ID that the sender has given the content.
    public let id: UUID
    /// The first 16 bytes of the SHA-256 of the notification's ID.
    public let notification: Data
    /// When the sender made it, in seconds since 1970. After 90 days it is refused without a record.
    public let createdAt: Int64

    init(_ id: UUID, under notification: PushID, createdAt: Int64) {
        self.id = id
        self.notification = Data(SHA256.hash(data: Data(notification.rawValue.utf8))).prefix(16)
        self.createdAt = createdAt
    }

    /// How many records a store keeps at least.
    public static let maxCount = 10_000
}

/// The records of opened envelopes, in the order in which they were opened.
///
/// Each has 40 bytes, so that a new one is appended and nothing else is written: the ID, the notification and the time
/// with the most significant byte first.
struct EnvelopeRecords: Sendable, Equatable {
    private(set) var data: Data

    static let size = 40

    /// Takes records. A last one that is not complete was never confirmed.
    init(_ data: Data = Data()) { self.data = Data(data.prefix(data.count / Self.size * Self.size)) }

    /// The result of a look for an envelope.
    enum Result: Sendable, Equatable {
        case new
        case known
        case replayed
    }

    /// Looks for an envelope.
    func result(of envelope: EnvelopeRecord) -> Result {
        let record = Self.record(envelope)
        for start in stride(from: 0, to: data.count, by: Self.size)
        where data[start..<start + 16].elementsEqual(record[..<16]) {
            return data[start + 16..<start + 32].elementsEqual(record[16..<32]) ? .known : .replayed
        }
        return .new
    }

    /// Adds a record, and drops the oldest of more than a quarter too many.
    ///
    /// - Returns: whether records were dropped.
    @discardableResult
    mutating func append(_ envelope: EnvelopeRecord) -> Bool {
        data.append(Self.record(envelope))
        guard data.count > EnvelopeRecord.maxCount / 4 * 5 * Self.size else { return false }
        data = Data(data.suffix(EnvelopeRecord.maxCount * Self.size))
        return true
    }

    static func record(_ envelope: EnvelopeRecord) -> Data {
        var record = withUnsafeBytes(of: envelope.id.uuid) { Data($0) } + envelope.notification
        withUnsafeBytes(of: envelope.createdAt.bigEndian) { record.append(contentsOf: $0) }
        return record
    }
}
