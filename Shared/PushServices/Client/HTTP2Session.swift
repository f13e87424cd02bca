import NIOCore
import NIOHPACK
import NIOHTTP2

/// The client's side of a connection of HTTP/2: a value without I/O that takes events and returns actions.
///
/// NIOHTTP2 reads and writes frames, keeps the windows for sending, and closes streams. This type does the rest: it
/// assigns requests to streams, limits the open streams, and ends requests after GOAWAY, RST_STREAM or a timeout.
///
/// Decision: docs/decisions/0038-own-http-client-for-push-services.md
struct HTTP2Session {
    enum Action {
        /// The first SETTINGS have come: this many requests may be in flight.
        case ready(room: Int)
        /// This many requests may be in flight from now on.
        case room(Int)
        case finish(PushSend, PushHTTPResult)
        /// The server did not process the request (RFC 9113, section 8.7).
        case again(PushSend, reason: String)
        case reset(HTTP2StreamID, HTTP2ErrorCode)
        /// A stream was closed.
        case ended
        case ping(UInt64)
        case pingAnswered
        case pingUnanswered
        case goneAway(HTTP2ErrorCode, reason: String?)
        /// The connection takes no more requests.
        case leave(wasUseful: Bool)
        case close
    }

    struct Settings {
        /// The maximum of requests in flight, whatever the server allows.
        var maxStreams: Int
        var sendsFirstRequestAlone: Bool
        var pingsDuringSilence: TimeAmount?
        var pingTimeout: TimeAmount
        /// See ``PushHTTPClientConfiguration/endsConnection``.
        var endsConnection: @Sendable (PushHTTPResponse) -> Bool = { _ in false }
    }

    struct Stream {
        let send: PushSend
        let started: NIODeadline
        var collector = PushResponseCollector()
        /// Whether the request has been written.
        var isOpen = false
        /// Whether the request has ended for its caller.
        var isFinished = false
    }

    /// NIOHTTP2 opens as many until the server sends another number.
    private static let defaultStreams = 100
    /// Long before the stream numbers are used up.
    private static let lastStream = 1 << 30

    private let settings: Settings
    private var streams: [HTTP2StreamID: Stream] = [:]
    private var nextStream = 1
    private var serverStreams = Self.defaultStreams
    private var isReady = false
    private var isLeaving = false
    private var hasGoodAnswer = false
    private var wasUseful = false
    private var shownRoom = 0
    private var lastHeard: NIODeadline
    private var pings: UInt64 = 0
    private var pingSent: NIODeadline?

    init(settings: Settings, now: NIODeadline) {
        self.settings = settings
        lastHeard = now
    }

    /// How many requests may be in flight.
    private var room: Int {
        if settings.sendsFirstRequestAlone && !hasGoodAnswer { return min(1, serverStreams) }
        return min(settings.maxStreams, serverStreams)
    }

    /// Puts a request on a new stream. The limit must not be reached.
    mutating func start(_ send: PushSend, now: NIODeadline) -> (HTTP2StreamID, [Action]) {
        let id = HTTP2StreamID(nextStream)
        nextStream += 2
        streams[id] = Stream(send: send, started: now)
        return (id, nextStream > Self.lastStream ? leave() : [])
    }

    /// NIOHTTP2 has written the head of a request.
    mutating func opened(_ id: HTTP2StreamID) { streams[id]?.isOpen = true }

    /// Whether a stream has a request that has not ended.
    func isInFlight(_ id: HTTP2StreamID) -> Bool { streams[id]?.isFinished == false }

    /// NIOHTTP2 has closed a stream.
    mutating func closed(_ id: HTTP2StreamID) -> [Action] {
        guard let stream = streams.removeValue(forKey: id) else { return [] }
        let end = stream.isFinished ? [] : [broken(stream, "the stream was closed")]
        return end + [.ended] + closeIfDrained()
    }

    /// The end of a request whose stream will bring no more of an answer.
    private func broken(_ stream: Stream, _ reason: String) -> Action {
        if let response = stream.collector.response { return .finish(stream.send, .success(response)) }
        guard stream.isOpen else { return .again(stream.send, reason: reason) }
        return .finish(stream.send, .failure(.unanswered(reason: reason)))
    }

    /// Takes no more requests, through no fault of the server.
    private mutating func leave() -> [Action] {
        if isLeaving { return [] }
        isLeaving = true
        return [.leave(wasUseful: true)] + closeIfDrained()
    }

    private func closeIfDrained() -> [Action] { isLeaving && streams.isEmpty ? [.close] : [] }

    private mutating func showRoom() -> [Action] {
        guard isReady, room != shownRoom else { return [] }
        shownRoom = room
        return [.room(room)]
    }
}

// MARK: - Frames

extension HTTP2Session {
    mutating func received(_ frame: HTTP2Frame, now: NIODeadline) -> [Action] {
        lastHeard = now
        switch frame.payload {
        case .settings(.settings(let values)): return received(values)
        case .headers(let headers): return received(headers, on: frame.streamID)
        case .data(let data): return received(data, on: frame.streamID)
        case .rstStream(let code): return wasReset(frame.streamID, code)
        case .goAway(let last, let code, let text): return goneAway(last, code, text)
        case .ping(let data, ack: true) where data.integer == pings && pingSent != nil:
            pingSent = nil
            return [.pingAnswered]
        default: return []
        }
    }

    private mutating func received(_ values: HTTP2Settings) -> [Action] {
        for value in values where value.parameter == .maxConcurrentStreams { serverStreams = value.value }
        if isReady { return showRoom() }
        isReady = true
        shownRoom = room
        return [.ready(room: room)]
    }

    private mutating func received(_ part: HTTP2Frame.FramePayload.Headers, on id: HTTP2StreamID) -> [Action] {
        guard streams[id]?.isFinished == false else { return [] }
        let status = part.headers.first(name: ":status").flatMap { Int($0) } ?? 0
        let fields = part.headers.lazy.filter { !$0.name.hasPrefix(":") }.map { (name: $0.name, value: $0.value) }
        // False for interim responses and trailers.
        let isHead = streams[id]?.collector.begin(status: status, headers: Array(fields)) == true
        var actions: [Action] = []
        if isHead {
            wasUseful = true
            // Any other status shows that the server accepts the credentials.
            if status < 500, ![401, 403, 429].contains(status) { hasGoodAnswer = true }
            actions = showRoom()
        }
        return actions + (part.endStream ? finish(id) : [])
    }

    private mutating func received(_ part: HTTP2Frame.FramePayload.Data, on id: HTTP2StreamID) -> [Action] {
        guard streams[id]?.isFinished == false, case .byteBuffer(let bytes) = part.data else { return [] }
        if streams[id]?.collector.append(bytes.readableBytesView) == false {
            // NIOHTTP2 closes a stream that has ended by itself.
            return finish(id) + (part.endStream ? [] : [.reset(id, .cancel)])
        }
        return part.endStream ? finish(id) : []
    }

    private mutating func finish(_ id: HTTP2StreamID) -> [Action] {
        guard let stream = streams[id], !stream.isFinished else { return [] }
        streams[id]?.isFinished = true
        let end = broken(stream, "the answer has no head")
        // It leaves the pool first, so that a repetition of the request gets another connection.
        if case .finish(_, .success(let response)) = end, settings.endsConnection(response) { return leave() + [end] }
        return [end]
    }

    /// Frees the streams whose answer came before their request was written.
    mutating func readCompleted() -> [Action] {
        streams.compactMap { id, stream in stream.isFinished ? .reset(id, .cancel) : nil }
    }

    private mutating func wasReset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode) -> [Action] {
        guard let stream = streams[id], !stream.isFinished else { return [] }
        streams[id]?.isFinished = true
        if code == .refusedStream, stream.collector.response == nil {
            return [.again(stream.send, reason: "the server refused the stream")]
        }
        return [broken(stream, "the server reset the stream")]
    }

    private mutating func goneAway(
        _ last: HTTP2StreamID, _ code: HTTP2ErrorCode, _ text: ByteBuffer?
    ) -> [Action] {
        wasUseful = wasUseful || streams.keys.contains { $0 <= last }
        var actions: [Action] = [.goneAway(code, reason: Self.reason(text))]
        if !isLeaving {
            isLeaving = true
            actions.append(.leave(wasUseful: wasUseful))
        }
        for (id, stream) in streams.sorted(by: { $0.key < $1.key }) where id > last && !stream.isFinished {
            streams[id]?.isFinished = true
            actions.append(.again(stream.send, reason: "the server is closing the connection"))
            // NIOHTTP2 closes those that are open by itself.
            if !stream.isOpen { actions += drop(id) }
        }
        return actions + closeIfDrained()
    }

    /// The reason that APNs gives as JSON, if it is a word such as `IdleTimeout`. Nothing else of the text may be shown:
    /// a server could repeat the path there.
    private static func reason(_ text: ByteBuffer?) -> String? {
        guard let text, text.readableBytes <= 256 else { return nil }
        let parts = String(buffer: text).split(separator: "\"")
        guard parts.count == 5, parts[1] == "reason", parts[3].utf8.count <= 40 else { return nil }
        let isWord = parts[3].utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }
        return isWord ? String(parts[3]) : nil
    }

    /// Drops a stream that NIOHTTP2 has queued, because NIOHTTP2 does not report its end.
    private mutating func drop(_ id: HTTP2StreamID) -> [Action] {
        streams.removeValue(forKey: id)
        return [.reset(id, .cancel), .ended]
    }
}

// MARK: - Time, and the end

extension HTTP2Session {
    /// Sends a PING to test the connection.
    mutating func check(now: NIODeadline) -> [Action] {
        if pingSent != nil { return [] }
        pings += 1
        pingSent = now
        return [.ping(pings)]
    }

    mutating func tick(now: NIODeadline) -> [Action] {
        if let sent = pingSent {
            guard now - sent >= settings.pingTimeout else { return [] }
            pingSent = nil
            return [.pingUnanswered] + leave() + [.close]
        }
        guard let silence = settings.pingsDuringSilence, !streams.isEmpty, now - lastHeard >= silence else {
            return []
        }
        return check(now: now)
    }

    /// Ends a request that is in flight.
    mutating func interrupt(_ number: UInt64, _ interruption: PushInterruption) -> [Action] {
        let place = streams.first { $0.value.send.number == number && !$0.value.isFinished }
        guard let (id, stream) = place else { return [] }
        var actions: [Action] = []
        if case .deadline = interruption, lastHeard < stream.started {
            // Nothing has come since the request went: the connection may be dead.
            actions += leave()
        }
        streams[id]?.isFinished = true
        if stream.isOpen || stream.collector.response != nil {
            actions += [broken(stream, interruption.reason), .reset(id, .cancel)]
        } else {
            actions.append(.finish(stream.send, .failure(.notSent(reason: interruption.reason))))
            actions += drop(id)
        }
        return actions + closeIfDrained()
    }

    /// Closes the connection when its requests have ended.
    mutating func retire() -> [Action] { leave() }

    /// The connection is closed or breaks.
    mutating func ended(_ reason: String) -> [Action] {
        let open = streams.sorted { $0.key < $1.key }.map(\.value)
        streams = [:]
        isLeaving = true
        return [.leave(wasUseful: wasUseful)] + open.filter { !$0.isFinished }.map { broken($0, reason) }
    }
}
