import DequeModule

/// The names that were deleted last, registrations' or hubs': they do not come into being again by being used.
struct RetiredIDs: Sendable {
    private static let capacity = 10_000

    private var ids: Set<String> = []
    private var order: Deque<String> = []

    func contains(_ id: String) -> Bool { ids.contains(id) }

    mutating func insert(_ id: String) {
        guard ids.insert(id).inserted else { return }
        order.append(id)
        if order.count > Self.capacity { ids.remove(order.removeFirst()) }
    }

    mutating func remove(_ id: String) {
        guard ids.remove(id) != nil else { return }
        order.removeAll { $0 == id }
    }
}
