import SecurePushCore

/// Which connections are open, which of them have no request, and what becomes of a new one when there are too many.
///
/// A connection without a request makes room for a new one, the oldest first: it costs its client a reconnect at most.
/// Where every connection has a request, a few more are admitted to hear 503 and to ask for `/livez`, and others are
/// refused. A value that does nothing by itself; ``HTTPConnections`` closes.
struct ConnectionBook {
    typealias ID = UInt64

    enum Refusal: String, CaseIterable {
        /// As many as allowed in all.
        case limit
        /// As many as allowed from one address.
        case address
    }

    enum Admission: Equatable {
        /// - Parameters:
        ///   - isRestricted: it is beyond the limit, and only the paths of operators are answered.
        ///   - evicted: a connection without a request that is to be closed for it.
        case admitted(ID, isRestricted: Bool, evicted: ID?)
        case refused(Refusal)
    }

    private struct Entry {
        let address: ClientAddress?
        let isRestricted: Bool
        /// The turn at which it became idle; `nil`: it has a request.
        var idleSince: UInt64?
    }

    private struct Place {
        var count = 0
        var idle = IdleQueue()
    }

    /// Connections beyond the limit that may only ask what operators ask.
    static let maxRestricted = 16
    /// Evicted connections that are not closed yet.
    static let maxEvicting = 32

    let maxConnections: Int
    /// 0: no limit for each address.
    let maxPerAddress: Int

    /// At most ``maxConnections`` and ``maxRestricted`` entries.
    private var entries: [ID: Entry] = [:]
    /// At most as many as entries with an address.
    private var places: [ClientAddress: Place] = [:]
    private var idle = IdleQueue()
    private var evicting: [ID: ClientAddress?] = [:]
    private var restricted = 0
    private var turn: UInt64 = 0

    init(maxConnections: Int, maxPerAddress: Int) {
        self.maxConnections = maxConnections
        self.maxPerAddress = maxPerAddress
    }

    /// Connections that are open, without those being evicted.
    var count: Int { entries.count }

    /// What is held of the order in which connections became idle; for tests.
    var queued: Int { idle.count + places.values.reduce(0) { $0 + $1.idle.count } }

    /// Decides on a new connection. It is idle at first.
    mutating func admit(_ address: ClientAddress?) -> Admission {
        let isPlaceFull = maxPerAddress > 0 && address.map { (places[$0]?.count ?? 0) >= maxPerAddress } ?? false
        guard isPlaceFull || entries.count >= maxConnections else {
            return .admitted(add(address, isRestricted: false), isRestricted: false, evicted: nil)
        }
        if evicting.count < Self.maxEvicting, let victim = oldestIdle(of: isPlaceFull ? address : nil) {
            let isRestricted = entries[victim]?.isRestricted ?? false
            let owner = remove(victim)
            evicting[victim] = owner
            // A restricted one leaves no room for another kind.
            return .admitted(add(address, isRestricted: isRestricted), isRestricted: isRestricted, evicted: victim)
        }
        guard restricted < Self.maxRestricted else { return .refused(isPlaceFull ? .address : .limit) }
        return .admitted(add(address, isRestricted: true), isRestricted: true, evicted: nil)
    }

    /// A request begins on it.
    mutating func becameBusy(_ id: ID) { entries[id]?.idleSince = nil }

    /// It has no request any more.
    mutating func becameIdle(_ id: ID) {
        guard let entry = entries[id] else { return }
        turn += 1
        entries[id]?.idleSince = turn
        push(id, entry.address)
    }

    /// One to be evicted has got a request meanwhile, and goes on.
    mutating func keep(_ id: ID) {
        guard let address = evicting.removeValue(forKey: id) else { return }
        entries[id] = Entry(address: address, isRestricted: false, idleSince: nil)
        if let address { places[address, default: Place()].count += 1 }
    }

    /// It is closed, for whatever reason.
    mutating func closed(_ id: ID) {
        if evicting.removeValue(forKey: id) == nil { remove(id) }
    }

    private mutating func add(_ address: ClientAddress?, isRestricted: Bool) -> ID {
        turn += 1
        let id = turn
        entries[id] = Entry(address: address, isRestricted: isRestricted, idleSince: turn)
        if let address { places[address, default: Place()].count += 1 }
        if isRestricted { restricted += 1 }
        push(id, address)
        return id
    }

    @discardableResult private mutating func remove(_ id: ID) -> ClientAddress? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        if entry.isRestricted { restricted -= 1 }
        guard let address = entry.address, var place = places[address] else { return nil }
        place.count -= 1
        places[address] = place.count == 0 ? nil : place
        return address
    }

    /// Of one address, or of all.
    private mutating func oldestIdle(of address: ClientAddress?) -> ID? {
        let entries = entries
        let isIdle = { (item: IdleQueue.Item) in entries[item.id]?.idleSince == item.turn }
        guard let address else { return idle.popFirst(where: isIdle)?.id }
        return places[address]?.idle.popFirst(where: isIdle)?.id
    }

    private mutating func push(_ id: ID, _ address: ClientAddress?) {
        let item = IdleQueue.Item(id: id, turn: turn)
        let entries = entries
        let isIdle = { (item: IdleQueue.Item) in entries[item.id]?.idleSince == item.turn }
        idle.append(item, max: 4 * entries.count + 64, keeping: isIdle)
        guard let address, let count = places[address]?.count else { return }
        places[address]?.idle.append(item, max: 4 * count + 64, keeping: isIdle)
    }
}

/// Connections in the order in which they became idle. Those that have got a request since, or are closed, stay in it
/// until they are met or it grows too long.
struct IdleQueue {
    struct Item {
        let id: ConnectionBook.ID
        let turn: UInt64
    }

    private var items: [Item] = []
    private var first = 0

    var count: Int { items.count }

    /// - Parameter max: beyond it everything is dropped that is not kept.
    mutating func append(_ item: Item, max: Int, keeping isKept: (Item) -> Bool) {
        items.append(item)
        guard items.count > max else { return }
        items = items[first...].filter(isKept)
        first = 0
    }

    /// Takes out the first for which the condition holds, and drops those before it.
    mutating func popFirst(where condition: (Item) -> Bool) -> Item? {
        while first < items.count {
            let item = items[first]
            first += 1
            if condition(item) { return item }
        }
        items.removeAll(keepingCapacity: true)
        first = 0
        return nil
    }
}
