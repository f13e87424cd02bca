/// What a simulated device says that it shows to its user. Kept in memory for the page alone.
struct DeviceDisplay: Encodable, Sendable {
    enum Kind: String, Encodable, Sendable {
        /// The payload, fetched by the device.
        case payload
        /// The generic text, shown when the payload could not be fetched.
        case prompt
    }

    let handle: String
    /// The notification's ID.
    let id: String?
    let text: String
    let kind: Kind
    let shownAt: String

    /// About how much memory it holds.
    var byteCount: Int { 200 + text.utf8.count + (id?.utf8.count ?? 0) }

    private enum CodingKeys: String, CodingKey {
        case handle = "Handle"
        case id = "Id"
        case text = "Text"
        case kind = "Kind"
        case shownAt = "ShownAt"
    }
}
