import SecurePushCore

/// Counts how every notification of a load test has ended, from pages of the sender's list, newest first.
///
/// Dispatching goes by age, so what is pending is mostly the newest; each pass reads the list only from the newest
/// pending one to the oldest, and others' notifications in between count for nothing.
struct DispatchCensus: Sendable {
    /// In ascending order.
    private let ids: [NotificationID]
    private var isFinal: [Bool]
    private(set) var statuses: [NotificationStatus: Int] = [:]
    private(set) var pending: Int
    /// Where the pending ones begin and end.
    private var oldest = 0
    private var newest: Int

    init(_ ids: [NotificationID]) {
        self.ids = ids.sorted()
        isFinal = Array(repeating: false, count: ids.count)
        pending = ids.count
        newest = ids.count - 1
    }

    /// Where a pass begins: before the one that follows the newest pending one; `nil` is at the list's head.
    var start: NotificationID? { newest + 1 < ids.count ? ids[newest + 1] : nil }

    /// Whether a pass has to go on with what is older than this ID.
    func goesOn(before id: NotificationID?) -> Bool {
        guard pending > 0, let id else { return false }
        return id > ids[oldest]
    }

    mutating func take(_ page: [(id: NotificationID, status: NotificationStatus)]) {
        for (id, status) in page where status.isFinal {
            guard let index = index(of: id), !isFinal[index] else { continue }
            isFinal[index] = true
            pending -= 1
            statuses[status, default: 0] += 1
        }
        while oldest < ids.count, isFinal[oldest] { oldest += 1 }
        while newest >= 0, isFinal[newest] { newest -= 1 }
    }

    private func index(of id: NotificationID) -> Int? {
        var low = 0
        var high = ids.count
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < ids.count && ids[low] == id ? low : nil
    }
}
