package import Logging
import NIOCore
import NIOPosix
import Synchronization

/// The HTTP client of all connectors: pools of connections of HTTP/2 and HTTP/1.1, one pool per origin.
///
/// No request is sent twice, except once more if a server says that it did not process it. Redirects are not followed.
/// A response with a complete head is used even if its body is incomplete. Deadlines are kept to within 20 ms.
///
/// The connections stay open until ``close(deadline:)``, which must be called.
///
/// It is `Sendable` because all mutable state is touched on `eventLoop` only, except `intake`, which is a lock. Calls
/// from other threads go through `intake` or `eventLoop.execute`; all other methods are called by the connections,
/// timers and look-ups of this event loop.
///
/// Decision: docs/decisions/0038-own-http-client-for-push-services.md
package final class PushHTTPClient: PushHTTPSending, @unchecked Sendable {
    /// Any thread puts requests here for the event loop. The first request into an empty intake wakes the loop.
    private struct Intake {
        var arrivals: [Arrival] = []
        var isAwaited = false
        var isClosed = false
        var count: UInt64 = 0
    }

    private struct Arrival {
        let send: PushSend
        let caller: CheckedContinuation<PushHTTPResult, Never>
    }

    /// The place of a request.
    enum Place {
        case waiting
        case onConnection(Int)
    }

    private struct Live {
        let send: PushSend
        let caller: CheckedContinuation<PushHTTPResult, Never>
        var place = Place.waiting
    }

    let configuration: PushHTTPClientConfiguration
    let logger: Logger
    let eventLoop: any EventLoop
    let dialSettings: PushDial.Settings
    let metrics: PushClientMetrics
    private let intake = Mutex(Intake())
    private var live: [UInt64: Live] = [:]
    var pools: PushPools
    var connections: [Int: (origin: PushOrigin, connection: any PushConnection)] = [:]
    var dials = 0
    /// When the next failure to connect is logged.
    var nextWarning = NIODeadline.now()
    var timers = Timers()
    var drained: EventLoopPromise<Void>?

    /// Makes a client, which opens connections when they are needed.
    package init(configuration: PushHTTPClientConfiguration, logger: Logger) {
        self.configuration = configuration
        var logger = logger
        logger[metadataKey: "client"] = "\(configuration.name)"
        self.logger = logger
        eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        dialSettings = PushDial.Settings(configuration)
        metrics = PushClientMetrics(client: configuration.name)
        pools = PushPools(
            limit: max(1, configuration.origins),
            limits: PushOriginPool.Limits(
                connections: max(1, configuration.connectionsPerOrigin), waiting: configuration.waitingPerOrigin,
                checksAfterIdle: configuration.pingsAfterIdle.map { TimeAmount($0) }))
    }

    package func send(
        _ request: PushHTTPRequest, deadline: ContinuousClock.Instant
    ) async -> Result<PushHTTPResponse, PushHTTPFailure> {
        if let problem = request.problem { return .failure(.notSent(reason: problem)) }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return .failure(.notSent(reason: PushInterruption.deadline.reason)) }
        // A day is longer than any deadline, and short enough for arithmetic.
        let limit = NIODeadline.now() + TimeAmount(min(left, .seconds(86_400)))
        let number = intake.withLock { intake in
            intake.count += 1
            return intake.count
        }
        let send = PushSend(number: number, request: request, deadline: limit)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                submit(Arrival(send: send, caller: caller))
                // A cancellation before this has found no request.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func submit(_ arrival: Arrival) {
        let (isOpen, wakesUp) = intake.withLock { intake in
            if intake.isClosed { return (false, false) }
            intake.arrivals.append(arrival)
            defer { intake.isAwaited = true }
            return (true, !intake.isAwaited)
        }
        if !isOpen {
            arrival.caller.resume(returning: .failure(.notSent(reason: PushInterruption.closing.reason)))
        } else if wakesUp {
            eventLoop.execute { self.collect() }
        }
    }

    private func cancel(_ number: UInt64) {
        eventLoop.execute {
            self.collect()
            self.interrupt(number, .cancelled)
        }
    }

    private func collect() {
        let arrivals = intake.withLock { intake in
            intake.isAwaited = false
            defer { intake.arrivals = [] }
            return intake.arrivals
        }
        let now = NIODeadline.now()
        var origins: Set<PushOrigin> = []
        for arrival in arrivals {
            live[arrival.send.number] = Live(send: arrival.send, caller: arrival.caller)
            let (reception, closing) = pools.submit(arrival.send, now: now)
            retire(closing)
            switch reception {
            case .queued: origins.insert(arrival.send.request.origin)
            case .refused(let reason): finished(arrival.send, .failure(.notSent(reason: reason)))
            }
        }
        for origin in origins { advance(origin) }
        startTimers()
    }

    var hasLive: Bool { !live.isEmpty }

    func place(_ send: PushSend, _ place: Place) { live[send.number]?.place = place }

    /// Ends a request for its caller; only the first end counts.
    func finished(_ send: PushSend, _ result: PushHTTPResult) {
        live.removeValue(forKey: send.number)?.caller.resume(returning: result)
        finishDrainingIfQuiet()
    }

    func fail(_ sends: [PushSend], _ reason: String) {
        for send in sends { finished(send, .failure(.notSent(reason: reason))) }
    }

    /// Ends a request wherever it is.
    func interrupt(_ number: UInt64, _ interruption: PushInterruption) {
        guard let request = live[number] else { return }
        switch request.place {
        case .waiting:
            _ = pools.change(request.send.request.origin) { $0.remove(number) }
            fail([request.send], interruption.reason)
        case .onConnection(let connection):
            guard let entry = connections[connection] else {
                return finished(request.send, .failure(.unanswered(reason: interruption.reason)))
            }
            entry.connection.interrupt(number, interruption)
        }
    }

    func interruptExpired(now: NIODeadline) {
        for (number, request) in live where request.send.deadline <= now { interrupt(number, .deadline) }
    }
}

// MARK: - The end

extension PushHTTPClient {
    /// Takes no more requests, lets those in flight end until the deadline or the task's cancellation, and closes the
    /// connections.
    package func close(deadline: ContinuousClock.Instant) async {
        intake.withLock { $0.isClosed = true }
        let left = TimeAmount(max(.zero, min(ContinuousClock.now.duration(to: deadline), .seconds(86_400))))
        let end = eventLoop.makePromise(of: Void.self)
        eventLoop.execute {
            self.collect()
            if let drained = self.drained { drained.futureResult.cascade(to: end) } else { self.drained = end }
            self.eventLoop.scheduleTask(in: left) { self.endNow() }
            self.retire(Array(self.connections.keys))
            self.finishDrainingIfQuiet()
        }
        await withTaskCancellationHandler {
            try? await end.futureResult.get()
        } onCancel: {
            eventLoop.execute { self.endNow() }
        }
    }

    private func endNow() {
        for number in Array(live.keys) { interrupt(number, .closing) }
        retire(Array(connections.keys))
        drained?.succeed()
    }

    func finishDrainingIfQuiet() {
        guard let drained, live.isEmpty else { return }
        retire(Array(connections.keys))
        if connections.isEmpty { drained.succeed() }
    }
}
