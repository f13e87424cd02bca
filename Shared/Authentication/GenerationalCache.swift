/// A bounded cache that forgets what has not been used for longest, roughly, at a constant cost.
///
/// It keeps a young and an old half. What is used moves to the young one; when that is full it becomes the old one, and
/// what was old and unused is forgotten.
struct GenerationalCache<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let halfCapacity: Int

    init(capacity: Int) { halfCapacity = max(1, capacity / 2) }

    var count: Int { young.count + old.count }

    mutating func value(for key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old.removeValue(forKey: key) else { return nil }
        insert(value, for: key)
        return value
    }

    mutating func insert(_ value: Value, for key: Key) {
        if young.count >= halfCapacity, young[key] == nil {
            old = young
            young = [:]
        }
        old[key] = nil
        young[key] = value
    }

    mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }
}
