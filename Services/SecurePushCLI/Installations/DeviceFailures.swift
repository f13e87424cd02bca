import Domain

/// A device that a command could not put or move. Never has its handle.
struct DeviceFailure: Encodable, Sendable, Equatable {
    var kind: String
    var id: String
    var reason: String
}

/// The devices that a command could not put or move. All are counted, and the first ones are listed: there may be
/// millions.
struct DeviceFailures: Encodable, Sendable, Equatable {
    private(set) var count = 0
    private(set) var listed: [DeviceFailure] = []

    static let maxListed = 1000

    mutating func add(_ device: DeviceReference, _ reason: String) {
        count += 1
        if listed.count == Self.maxListed { return }
        listed.append(DeviceFailure(kind: "\(device.kind)", id: device.id, reason: reason))
    }

    /// A report has the number of all.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(count)
    }

    /// Tells how many are not listed; `nil` if all are.
    var rest: String? {
        let unlisted = count - listed.count
        if unlisted == 0 { return nil }
        return "\(unlisted.grouped) more failed. Only the first \(listed.count.grouped) are listed."
    }

    func show(on console: Console) throws {
        for failure in listed {
            try console.show(failure, "\(failure.kind) \(failure.id.printable): \(failure.reason)")
        }
        guard let rest else { return }
        if console.isJSON { console.message(rest) } else { try console.line(rest) }
    }
}
