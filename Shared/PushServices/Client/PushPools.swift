import NIOCore

/// The pools of all origins, with a bound, because endpoints come from devices: a value without I/O.
struct PushPools {
    enum Reception {
        case queued
        case refused(reason: String)
    }

    let limit: Int
    let limits: PushOriginPool.Limits
    private(set) var pools: [PushOrigin: PushOriginPool] = [:]

    var isEmpty: Bool { pools.isEmpty }
    var origins: [PushOrigin] { Array(pools.keys) }

    init(limit: Int, limits: PushOriginPool.Limits) {
        self.limit = limit
        self.limits = limits
    }

    /// Takes a request.
    ///
    /// - Returns: also the connections to close, because the origin that was used least recently gives way.
    mutating func submit(_ send: PushSend, now: NIODeadline) -> (Reception, closing: [PushOriginPool.Connection]) {
        let origin = send.request.origin
        var closing: [PushOriginPool.Connection] = []
        if pools[origin] == nil {
            // Pools of which only closing connections are left take no place.
            if pools.values.count(where: { !$0.isLeaving }) >= limit {
                let quiet = pools.filter { $0.value.isQuiet && !$0.value.isLeaving }
                guard let oldest = quiet.min(by: { $0.value.lastUsed < $1.value.lastUsed })?.key else {
                    return (.refused(reason: "too many origins are in use"), [])
                }
                closing = pools[oldest]?.takeIdle(since: .distantFuture) ?? []
            }
            pools[origin] = PushOriginPool(limits: limits, now: now)
        }
        let isQueued = pools[origin]?.submit(send, now: now) ?? false
        return (isQueued ? .queued : .refused(reason: "too many requests wait"), closing)
    }

    /// Changes the pool of an origin, and forgets it when nothing is left in it.
    mutating func change<Value>(_ origin: PushOrigin, _ body: (inout PushOriginPool) -> Value) -> Value? {
        guard let index = pools.index(forKey: origin) else { return nil }
        let value = body(&pools.values[index])
        if pools.values[index].isEmpty { pools.remove(at: index) }
        return value
    }
}
