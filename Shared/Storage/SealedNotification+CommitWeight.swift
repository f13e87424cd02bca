import SecurePushCore

extension SealedNotification {
    /// The bytes of a payload that count as one row more when groups are made.
    static let bytesPerWeight = 16 * 1024

    /// As how many rows it counts when groups are made. Notifications that share a commit with megabytes wait for them,
    /// so large payloads make small groups.
    var commitWeight: Int { 1 + payload.bytes.count / Self.bytesPerWeight }
}
