import SecurePushCore

/// One platform's delivery, as the status route tells it and as the store has it.
struct DeliveryRow: Codable, Sendable, Equatable {
    var Platform: String
    var State: String
    var Attempts: Int
    var HubMessageId: String?
    var Error: String?
    var UpdatedAt: String

    init(_ delivery: Delivery) {
        Platform = delivery.platform.rawValue
        State = delivery.state.rawValue
        Attempts = delivery.attempts
        HubMessageId = delivery.hubMessageID
        Error = delivery.error
        UpdatedAt = delivery.updatedAt.description
    }

    /// A table with a head; nothing for no deliveries.
    static func table(_ rows: [DeliveryRow]) -> [String] {
        if rows.isEmpty { return [] }
        var table = TextTable(isOfWords: true)
        table.add(["PLATFORM", "STATE", "ATTEMPTS", "UPDATED", "HUB MESSAGE", "REASON"])
        for row in rows {
            table.add([
                row.Platform.oneLine, row.State.oneLine, "\(row.Attempts)", row.UpdatedAt.oneLine,
                row.HubMessageId?.oneLine ?? "-", row.Error?.oneLine ?? "-",
            ])
        }
        return table.lines
    }
}

extension String {
    /// ``printable``, on one line: a cell of a table.
    var oneLine: String {
        String(String.UnicodeScalarView(printable.unicodeScalars.map { $0 == "\n" || $0 == "\t" ? " " : $0 }))
    }
}
