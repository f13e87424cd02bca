@testable import HubEmulator

extension ClientRequest {
    /// Every row.
    static var all: [ClientRequest] { sends + registrations + installations + hubs + telemetry }

    /// How many requests of each operation are sent in each client's way, as the document has it.
    static func markdownTable() -> String {
        var operations: [String] = []
        var clients: [String] = []
        var counts: [String: Int] = [:]
        let rows = all
        for row in rows {
            if !operations.contains(row.operation) { operations.append(row.operation) }
            if !clients.contains(row.style.name) { clients.append(row.style.name) }
            counts["\(row.operation)/\(row.style.name)", default: 0] += 1
        }
        var lines = [
            "| operation | " + clients.joined(separator: " | ") + " | rows |",
            "| --- |" + String(repeating: " --- |", count: clients.count + 1),
        ]
        for operation in operations {
            let cells = clients.map { counts["\(operation)/\($0)"].map(String.init) ?? "" }
            let sum = rows.count { $0.operation == operation }
            lines.append("| \(operation) | " + cells.joined(separator: " | ") + " | \(sum) |")
        }
        let sums = clients.map { client in String(rows.count { $0.style.name == client }) }
        lines.append("| all | " + sums.joined(separator: " | ") + " | \(rows.count) |")
        return lines.joined(separator: "\n") + "\n"
    }
}
