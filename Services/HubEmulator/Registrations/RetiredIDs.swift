import DequeModule

/// The registration IDs that were deleted last: the hub answers 410 to whoever uses one again.
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
}
