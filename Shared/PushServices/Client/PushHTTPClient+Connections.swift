import Crypto
import Foundations
import Logging
import NIOCore
import OutgoingHTTP

extension PushHTTPClient: PushConnectionOwner {
    /// Carries out the actions of the pool of an origin.
    func advance(_ origin: PushOrigin) {
        let now = NIODeadline.now()
        var written: Set<Int> = []
        while let action = pools.change(origin, { $0.next(now: now) }) ?? nil {
            switch action {
            case .connect: connect(origin)
            case .check(let number): connections[number]?.connection.check()
            case .start(let send, let number):
                place(send, .onConnection(number))
                connections[number]?.connection.start(send)
                written.insert(number)
            }
        }
        for number in written { connections[number]?.connection.flush() }
    }

    private func connect(_ origin: PushOrigin) {
        dials += 1
        PushDial(number: dials, origin: origin, settings: dialSettings, owner: self, eventLoop: eventLoop).start()
    }

    func connected(_ dial: PushDial, _ connection: any PushConnection, room: Int, isMultiplexed: Bool) {
        connections[dial.number] = (dial.origin, connection)
        metrics.countOpened()
        _ = pools.change(dial.origin) {
            $0.connected(dial.number, room: room, isMultiplexed: isMultiplexed, now: .now())
        }
        advance(dial.origin)
        startTimers()
        finishDrainingIfQuiet()
    }

    func connectFailed(_ dial: PushDial, _ error: any Error) {
        metrics.countFailed()
        let (now, reason) = (NIODeadline.now(), PushDialError.reason(error))
        if now >= nextWarning {
            nextWarning = now + .minutes(1)
            var metadata: Logger.Metadata = ["origin": "\(shown(dial.origin))", "reason": "\(reason)"]
            // The errors of proxies and sockets name the host.
            if configuration.publicHosts.contains(dial.origin.host) {
                metadata["error"] = "\(ErrorText.describe(error))"
            }
            logger.warning("A push service cannot be reached", metadata: metadata)
        }
        fail(pools.change(dial.origin) { $0.connectFailed(now: now) } ?? [], reason)
        advance(dial.origin)
    }

    /// The name of an origin for logs.
    private func shown(_ origin: PushOrigin) -> String {
        if configuration.publicHosts.contains(origin.host) { return origin.authority }
        return Array(SHA256.hash(data: Array(origin.authority.utf8)).prefix(4)).hex
    }

    func roomChanged(of number: Int, to room: Int) { change(number) { $0.roomChanged(of: number, to: room) } }

    func ended(on number: Int) { change(number) { $0.ended(on: number, now: .now()) } }

    func pingAnswered(on number: Int) { change(number) { $0.checked(number) } }

    private func change(_ number: Int, _ body: (inout PushOriginPool) -> Void) {
        guard let origin = connections[number]?.origin else { return }
        _ = pools.change(origin, body)
        advance(origin)
    }

    func pingUnanswered(on number: Int) {
        metrics.countUnansweredPing()
        note("A push service does not answer a PING", number)
    }

    func goneAway(_ number: Int, code: String, reason: String?) {
        metrics.countGoneAway()
        var metadata: Logger.Metadata = ["code": "\(code)"]
        if let reason { metadata["reason"] = "\(reason)" }
        note("A push service closes a connection", number, metadata)
    }

    func broke(_ number: Int, _ error: any Error) {
        note("A connection to a push service broke", number, ["error": "\(ErrorText.describe(error))"])
    }

    private func note(_ message: Logger.Message, _ number: Int, _ metadata: Logger.Metadata = [:]) {
        guard let origin = connections[number]?.origin else { return }
        logger.debug(message, metadata: metadata.merging(["origin": "\(shown(origin))"]) { first, _ in first })
    }

    /// A server did not process a request: it is sent once more.
    func notProcessed(_ send: PushSend, reason: String, on number: Int) {
        guard !send.isRepeated, drained == nil, let origin = connections[number]?.origin else {
            return finished(send, .failure(.notSent(reason: reason)))
        }
        let repeated = send.repeated
        place(repeated, .waiting)
        _ = pools.change(origin) { $0.submitAgain(repeated, avoiding: number) }
        advance(origin)
    }

    func left(_ number: Int, wasUseful: Bool) {
        guard let origin = connections[number]?.origin else { return }
        let failed = pools.change(origin) { $0.left(number, wasUseful: wasUseful, now: .now()) } ?? []
        fail(failed, "the server closes its connections")
        advance(origin)
    }

    func closed(_ number: Int) {
        guard let origin = connections.removeValue(forKey: number)?.origin else { return }
        metrics.countClosed()
        _ = pools.change(origin) { $0.closed(number) }
        advance(origin)
        finishDrainingIfQuiet()
    }

    func retire(_ numbers: [Int]) {
        for number in numbers { connections[number]?.connection.retire() }
    }
}

// MARK: - Time

extension PushHTTPClient {
    /// The timers that run. One timer serves all requests: a timer for each would cost more than a request.
    struct Timers {
        var isFast = false
        var isSlow = false
    }

    private static let fastTick = TimeAmount.milliseconds(20)
    private static let slowTick = TimeAmount.seconds(1)

    /// The fast timer runs while there are requests, the slow one while there are connections.
    func startTimers() {
        if !timers.isFast, hasLive {
            timers.isFast = true
            eventLoop.scheduleTask(in: Self.fastTick) { self.tickFast() }
        }
        if !timers.isSlow, !connections.isEmpty {
            timers.isSlow = true
            eventLoop.scheduleTask(in: Self.slowTick) { self.tickSlow() }
        }
    }

    private func tickFast() {
        timers.isFast = false
        let now = NIODeadline.now()
        interruptExpired(now: now)
        for entry in Array(connections.values) { entry.connection.tick(now: now) }
        // A pause after a failed attempt may be over.
        for origin in pools.origins { advance(origin) }
        startTimers()
    }

    private func tickSlow() {
        timers.isSlow = false
        let time = NIODeadline.now() - TimeAmount(configuration.idleTimeout)
        for origin in pools.origins {
            retire(pools.change(origin) { $0.takeIdle(since: time) } ?? [])
        }
        startTimers()
    }
}
