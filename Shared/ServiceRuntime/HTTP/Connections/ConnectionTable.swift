import Foundations

/// The open connections, which of them are idle, and the decision on a new one when there are too many.
///
/// A new connection replaces the one that has been idle for longest, whose client has to reconnect at most. If every
/// connection has a request, a few more are admitted so that they get 503 or an answer at `/livez`; others are refused.
/// A value without side effects: ``HTTPConnections`` closes the connections.
struct ConnectionTable {
    typealias ID = UInt64

    enum Refusal: String, CaseIterable {
        /// The limit of all connections is reached.
        case limit
        /// The limit of the client's address is reached.
        case address
    }

    enum Admission: Equatable {
        /// - Parameters:
        ///   - isRestricted: it is above the limit and may only use the paths of operators.
        ///   - evicted: an idle connection to close in exchange.
        case admitted(ID, isRestricted: Bool, evicted: ID?)
        case refused(Refusal)
    }

    private struct Entry {
        let address: ClientAddress?
        let isRestricted: Bool
        /// The turn at which it became idle; `nil` while it has a request.
        var idleSince: UInt64?
    }

    private struct AddressState {
        var count = 0
        var idle = IdleQueue()
    }

    /// Connections above the limit that may only use the paths of operators.
    static let maxRestricted = 16
    /// Evicted connections that are not closed yet.
    static let maxEvicting = 32

    let maxConnections: Int
    /// 0: no limit per address.
    let maxPerAddress: Int

    /// At most ``maxConnections`` and ``maxRestricted`` entries.
    private var entries: [ID: Entry] = [:]
    /// At most as many as entries with an address.
    private var addresses: [ClientAddress: AddressState] = [:]
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

    /// The length of all idle queues; for tests.
    var queued: Int { idle.count + addresses.values.reduce(0) { $0 + $1.idle.count } }

    /// Decides on a new connection. It is idle at first.
    mutating func admit(_ address: ClientAddress?) -> Admission {
        let isAddressFull = maxPerAddress > 0 && address.map { (addresses[$0]?.count ?? 0) >= maxPerAddress } ?? false
        guard isAddressFull || entries.count >= maxConnections else {
            return .admitted(add(address, isRestricted: false), isRestricted: false, evicted: nil)
        }
        if evicting.count < Self.maxEvicting, let victim = oldestIdle(of: isAddressFull ? address : nil) {
            let isRestricted = entries[victim]?.isRestricted ?? false
            let owner = remove(victim)
            evicting[victim] = owner
            // A connection that replaces a restricted one is restricted too.
            return .admitted(add(address, isRestricted: isRestricted), isRestricted: isRestricted, evicted: victim)
        }
        guard restricted < Self.maxRestricted else { return .refused(isAddressFull ? .address : .limit) }
        return .admitted(add(address, isRestricted: true), isRestricted: true, evicted: nil)
    }

    /// A request has begun on the connection.
    mutating func becameBusy(_ id: ID) { entries[id]?.idleSince = nil }

    /// The last request of the connection has ended.
    mutating func becameIdle(_ id: ID) {
        guard let entry = entries[id] else { return }
        turn += 1
        entries[id]?.idleSince = turn
        push(id, entry.address)
    }

    /// A connection that was to be evicted has received a request and stays open.
    mutating func keep(_ id: ID) {
        guard let address = evicting.removeValue(forKey: id) else { return }
        entries[id] = Entry(address: address, isRestricted: false, idleSince: nil)
        if let address { addresses[address, default: AddressState()].count += 1 }
    }

    mutating func closed(_ id: ID) {
        if evicting.removeValue(forKey: id) == nil { remove(id) }
    }

    private mutating func add(_ address: ClientAddress?, isRestricted: Bool) -> ID {
        turn += 1
        let id = turn
        entries[id] = Entry(address: address, isRestricted: isRestricted, idleSince: turn)
        if let address { addresses[address, default: AddressState()].count += 1 }
        if isRestricted { restricted += 1 }
        push(id, address)
        return id
    }

    @discardableResult private mutating func remove(_ id: ID) -> ClientAddress? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        if entry.isRestricted { restricted -= 1 }
        guard let address = entry.address, var state = addresses[address] else { return nil }
        state.count -= 1
        addresses[address] = state.count == 0 ? nil : state
        return address
    }

    /// The connection of one address, or of all, that has been idle for longest.
    private mutating func oldestIdle(of address: ClientAddress?) -> ID? {
        let entries = entries
        let isIdle = { (item: IdleQueue.Item) in entries[item.id]?.idleSince == item.turn }
        guard let address else { return idle.popFirst(where: isIdle)?.id }
        return addresses[address]?.idle.popFirst(where: isIdle)?.id
    }

    private mutating func push(_ id: ID, _ address: ClientAddress?) {
        let item = IdleQueue.Item(id: id, turn: turn)
        let entries = entries
        let isIdle = { (item: IdleQueue.Item) in entries[item.id]?.idleSince == item.turn }
        idle.append(item, max: 4 * entries.count + 64, keeping: isIdle)
        guard let address, let count = addresses[address]?.count else { return }
        addresses[address]?.idle.append(item, max: 4 * count + 64, keeping: isIdle)
    }
}

/// Connections in the order in which they became idle. Connections that are busy again, or closed, stay in the queue
/// until they are at its head or the queue is too long.
struct IdleQueue {
    struct Item {
        let id: ConnectionTable.ID
        let turn: UInt64
    }

    private var items: [Item] = []
    private var first = 0

    var count: Int { items.count }

    /// - Parameter max: above this length, items that are not kept are dropped.
    mutating func append(_ item: Item, max: Int, keeping isKept: (Item) -> Bool) {
        items.append(item)
        guard items.count > max else { return }
        items = items[first...].filter(isKept)
        first = 0
    }

    /// Removes the first item that satisfies the condition, and drops those before it.
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
