import Domain
import Foundations

extension StorageCoding {
    /// Places as `TIME:ID`, with the time in milliseconds, separated by commas.
    static func encode(cursors: [OutcomeCursor]) -> String {
        cursors.map { "\($0.time.milliseconds):\($0.id)" }.joined(separator: ",")
    }

    /// The places before the first one that this program cannot read: the passes without a place begin anew.
    static func decodeCursors(_ text: String) -> [OutcomeCursor] {
        var cursors: [OutcomeCursor] = []
        for part in text.split(separator: ",").prefix(OutcomePass.all.count) {
            let fields = part.split(separator: ":", maxSplits: 1)
            guard fields.count == 2, let number = Int64(fields[0]), let id = NotificationID(String(fields[1])),
                let time = try? Timestamp(stored: number, column: "cursors")
            else { break }
            cursors.append(OutcomeCursor(time: time, id: id))
        }
        return cursors
    }
}
