import CoreMetrics
import Foundations
import Logging
import NIOCore
import ServiceConfiguration
import Synchronization

/// All connections of a listener: admits them within the limits, and counts those that a limit has closed.
final class HTTPConnections: Sendable {
    /// Why a connection was refused or closed by the service, as the label `reason` of
    /// `securepush_http_connections_closed_total`.
    enum Reason: String, CaseIterable {
        /// Refused: all connections are in use.
        case limit
        /// Refused: all connections of its address are in use.
        case address
        /// Closed while idle, in exchange for a new connection.
        case evicted
        /// The TLS handshake took too long.
        case handshake
        /// The connection was idle for too long.
        case idle
        /// The head of a request took too long.
        case header
        /// A body, or its next part, took too long.
        case body
        /// Too many bodies are awaited.
        case waiting
        /// Too many HTTP/2 frames that belong to no request.
        case frames
        /// The rest of a refused request's body was too long.
        case drain
        /// The client does not read its answers.
        case write
    }

    /// The event that tells an idle connection to close in exchange for a new one.
    struct Eviction: Sendable {}

    fileprivate struct State {
        var book: ConnectionTable
        var channels: [ConnectionTable.ID: any Channel] = [:]
        /// The connections with bytes that their clients do not take, and those bytes.
        var unsent: [ConnectionTable.ID: Int] = [:]
        var unsentInAll = 0
    }

    let limits: HTTPLimits
    let bodies: WaitingBodies
    let requests: InFlightRequests
    let proxies: TrustedProxies
    private let state: Mutex<State>
    private let counters: [Reason: Counter]
    private let logger: Logger
    private let refusals = LastingProblemLog("Connections are refused because the limit is reached")

    /// - Parameter limits: the result of ``HTTPLimits/resolved(descriptors:)``.
    init(limits: HTTPLimits, context: ServiceContext) {
        self.limits = limits
        bodies = WaitingBodies(limits: limits)
        requests = context.requests
        proxies = context.proxies
        logger = context.logger
        state = Mutex(
            State(
                book: ConnectionTable(
                    maxConnections: limits.maxConnections ?? .max, maxPerAddress: limits.maxConnectionsPerAddress ?? 0)
            ))
        counters = Metric.httpConnectionsClosed.counters(Reason.allCases, in: context.metrics)
        context.metrics.observe(.httpConnections) { [weak self] in self.map { Double($0.count) } }
        context.metrics.observe(.httpBodiesAwaited) { [bodies] in Double(bodies.count) }
    }

    var count: Int { state.withLock { $0.book.count } }

    /// Counts a new connection until it is closed. Call it on the channel's event loop.
    ///
    /// - Parameter isTLS: whether its first bytes are a TLS handshake.
    /// - Returns: the handler for the place in its pipeline where bytes are plain; `nil` if it was refused and closed.
    func admit(_ channel: any Channel, isTLS: Bool) -> ConnectionHandler? {
        // A proxy has the connections of many clients.
        let peer = proxies.contains(channel.remoteAddress) ? nil : channel.remoteAddress
        let address = peer?.ipAddress.flatMap { ClientAddress($0) }
        let (admission, victim) = state.withLock { state -> (ConnectionTable.Admission, (any Channel)?) in
            let admission = state.book.admit(address)
            guard case .admitted(let id, _, let evicted) = admission else { return (admission, nil) }
            state.channels[id] = channel
            return (admission, evicted.flatMap { state.channels[$0] })
        }
        victim?.pipeline.fireUserInboundEventTriggered(Eviction())
        switch admission {
        case .refused(let refusal):
            count(refusal == .limit ? .limit : .address)
            let key =
                refusal == .limit
                ? ConfigurationKeys.httpMaxConnections : ConfigurationKeys.httpMaxConnectionsPerAddress
            refusals.failed(to: logger, metadata: ["limit": "\(key.name)"])
            channel.close(promise: nil)
            return nil
        case .admitted(let id, let isRestricted, _):
            channel.closeFuture.whenComplete { [weak self] _ in self?.closed(id) }
            return ConnectionHandler(self, id: id, isRestricted: isRestricted, isTLS: isTLS)
        }
    }

    func count(_ reason: Reason) { counters[reason]?.increment(by: 1) }

    func becameBusy(_ id: ConnectionTable.ID) { state.withLock { $0.book.becameBusy(id) } }

    func becameIdle(_ id: ConnectionTable.ID) { state.withLock { $0.book.becameIdle(id) } }

    /// A connection that was to be evicted has received a request.
    func keep(_ id: ConnectionTable.ID) { state.withLock { $0.book.keep(id) } }

    /// Notes the bytes that the client of a connection does not take. If there are too many in all, the connections
    /// with the most are closed.
    func noteUnsent(_ bytes: Int, of id: ConnectionTable.ID) {
        let (victims, freed) = state.withLock { state in
            guard state.channels[id] != nil else { return ([] as [any Channel], 0) }
            let former = state.unsent[id] ?? 0
            state.unsent[id] = bytes == 0 ? nil : bytes
            state.unsentInAll += bytes - former
            guard state.unsentInAll > limits.maxUnsentBytesInAll else { return ([], former - bytes) }
            // Some more than necessary, so that this is not done for each connection of a flood.
            return (state.takeWorst(until: limits.maxUnsentBytesInAll / 4 * 3), former - bytes)
        }
        if freed > 0 { HeapTrimmer.shared.freed(freed) }
        closeUnread(victims)
    }

    /// Closes the connection with the most bytes that its client does not take.
    func closeWorst() {
        closeUnread(
            state.withLock { state in
                guard let worst = state.unsent.max(by: { $0.value < $1.value }) else { return [] }
                state.unsent[worst.key] = nil
                state.unsentInAll -= worst.value
                return [state.channels[worst.key]].compactMap(\.self)
            })
    }

    private func closeUnread(_ channels: [any Channel]) {
        for channel in channels {
            count(.write)
            // Not at once: this may be called in the midst of the connection's own work.
            channel.eventLoop.execute { channel.close(promise: nil) }
        }
    }

    private func closed(_ id: ConnectionTable.ID) {
        let freed = state.withLock { state in
            state.book.closed(id)
            state.channels[id] = nil
            let unsent = state.unsent.removeValue(forKey: id) ?? 0
            state.unsentInAll -= unsent
            return unsent
        }
        HeapTrimmer.shared.freed(freed + Self.connectionBytes)
    }

    /// The approximate memory of a connection.
    private static let connectionBytes = 64 * 1024
}

extension HTTPConnections.State {
    /// Forgets the connections with the most bytes, until no more than these are left.
    fileprivate mutating func takeWorst(until limit: Int) -> [any Channel] {
        var victims: [any Channel] = []
        for (id, bytes) in unsent.sorted(by: { $0.value > $1.value }) where unsentInAll > limit {
            unsent[id] = nil
            unsentInAll -= bytes
            if let channel = channels[id] { victims.append(channel) }
        }
        return victims
    }
}
