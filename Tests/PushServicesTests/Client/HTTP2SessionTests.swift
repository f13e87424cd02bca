import NIOCore
import NIOHPACK
import NIOHTTP2
import Testing

@testable import PushServices

/// The client's side of a connection as a value: no network, no clock.
@Suite struct HTTP2SessionTests {
    private static func time(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    private func session(alone: Bool = false, silence: TimeAmount? = nil) -> HTTP2Session {
        var session = HTTP2Session(
            settings: .init(
                maxStreams: 50, sendsFirstRequestAlone: alone, pingsDuringSilence: silence, pingTimeout: .seconds(5)),
            now: Self.time(0))
        #expect(texts(session.received(settings(), now: Self.time(0))) == [alone ? "ready 1" : "ready 50"])
        return session
    }

    private func settings(maxStreams: Int? = nil) -> HTTP2Frame {
        let values = maxStreams.map { [HTTP2Setting(parameter: .maxConcurrentStreams, value: $0)] } ?? []
        return HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(values)))
    }

    private func head(_ stream: Int, _ status: Int, ends: Bool = false) -> HTTP2Frame {
        HTTP2Frame(
            streamID: HTTP2StreamID(stream),
            payload: .headers(.init(headers: HPACKHeaders([(":status", "\(status)")]), endStream: ends)))
    }

    private func data(_ stream: Int, _ count: Int, ends: Bool = false) -> HTTP2Frame {
        let bytes = ByteBuffer(repeating: 7, count: count)
        return HTTP2Frame(
            streamID: HTTP2StreamID(stream), payload: .data(.init(data: .byteBuffer(bytes), endStream: ends)))
    }

    private func goAway(_ last: Int, text: String = "") -> HTTP2Frame {
        HTTP2Frame(
            streamID: .rootStream,
            payload: .goAway(
                lastStreamID: HTTP2StreamID(last), errorCode: .noError, opaqueData: ByteBuffer(string: text)))
    }

    /// Starts requests `/1`, `/3` and so on, as their streams are numbered.
    private func start(_ session: inout HTTP2Session, _ count: Int, isOpen: Bool = true) {
        for _ in 0..<count {
            let (id, actions) = session.start(.sample("/", number: 0), now: Self.time(1))
            #expect(actions.isEmpty)
            if isOpen { session.opened(id) }
        }
    }

    private func texts(_ actions: [HTTP2Session.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .ready(let room): "ready \(room)"
            case .room(let room): "room \(room)"
            case .finish(_, .success(let response)): "answer \(response.status) \(response.body.count)"
            case .finish(_, .failure(.notSent(let reason))): "notSent: \(reason)"
            case .finish(_, .failure(.unanswered(let reason))): "unanswered: \(reason)"
            case .again(_, let reason): "again: \(reason)"
            case .reset(let stream, _): "reset \(Int(stream))"
            case .ended: "ended"
            case .ping(let number): "ping \(number)"
            case .pingAnswered: "pingAnswered"
            case .pingUnanswered: "pingUnanswered"
            case .goneAway(_, let reason): "goneAway \(reason ?? "-")"
            case .leave(let wasUseful): "leave \(wasUseful)"
            case .close: "close"
            }
        }
    }

    @Test func `An answer ends its request, and its stream ends when NIO says so`() {
        var session = session()
        start(&session, 1)
        #expect(texts(session.received(head(1, 103), now: Self.time(2))) == [])
        #expect(texts(session.received(head(1, 201), now: Self.time(2))) == [])
        #expect(texts(session.received(data(1, 5, ends: true), now: Self.time(2))) == ["answer 201 5"])
        #expect(texts(session.closed(1)) == ["ended"])
        #expect(texts(session.readCompleted()) == [])
    }

    @Test func `An answer that comes before its request is written frees the stream`() {
        var session = session()
        start(&session, 1)
        #expect(texts(session.received(head(1, 413, ends: true), now: Self.time(2))) == ["answer 413 0"])
        #expect(texts(session.readCompleted()) == ["reset 1"])
    }

    @Test func `SETTINGS change the room`() {
        var session = session()
        #expect(texts(session.received(settings(maxStreams: 1), now: Self.time(1))) == ["room 1"])
        #expect(texts(session.received(settings(), now: Self.time(1))) == [])
        #expect(texts(session.received(settings(maxStreams: 0), now: Self.time(1))) == ["room 0"])
        #expect(texts(session.received(settings(maxStreams: 4_294_967_295), now: Self.time(1))) == ["room 50"])
    }

    @Test func `The first request is alone until the credentials are taken`() {
        var session = session(alone: true)
        start(&session, 1)
        #expect(texts(session.received(head(1, 403, ends: true), now: Self.time(1))) == ["answer 403 0"])
        _ = session.closed(1)
        start(&session, 1)
        #expect(texts(session.received(head(3, 410, ends: true), now: Self.time(1))) == ["room 50", "answer 410 0"])
    }

    @Test func `A body is cut at its bound`() {
        var session = session()
        start(&session, 2)
        _ = session.received(head(1, 200), now: Self.time(1))
        #expect(texts(session.received(data(1, 65_536), now: Self.time(1))) == [])
        #expect(texts(session.received(data(1, 1), now: Self.time(1))) == ["answer 200 65536", "reset 1"])
        #expect(texts(session.received(data(1, 1), now: Self.time(1))) == [])
        _ = session.received(head(3, 200), now: Self.time(1))
        #expect(texts(session.received(data(3, 65_537, ends: true), now: Self.time(1))) == ["answer 200 65536"])
    }

    @Test func `GOAWAY gives back what was not processed`() {
        var session = session()
        start(&session, 2)
        start(&session, 1, isOpen: false)
        let reason = "again: the server is closing the connection"
        let actions = session.received(goAway(1, text: #"{"reason":"IdleTimeout"}"#), now: Self.time(1))
        // NIO holds the third back, and would never say that it is closed.
        #expect(texts(actions) == ["goneAway IdleTimeout", "leave true", reason, reason, "reset 5", "ended"])
        #expect(texts(session.closed(3)) == ["ended"])
        #expect(texts(session.received(head(1, 201, ends: true), now: Self.time(1))) == ["answer 201 0"])
        #expect(texts(session.closed(1)) == ["ended", "close"])
    }

    @Test func `A second GOAWAY may give back more`() {
        var session = session()
        start(&session, 2)
        #expect(texts(session.received(goAway(2_147_483_647), now: Self.time(1))) == ["goneAway -", "leave true"])
        let reason = "again: the server is closing the connection"
        #expect(texts(session.received(goAway(1), now: Self.time(1))) == ["goneAway -", reason])
    }

    @Test(arguments: [
        #"{"reason":"a path /3/device/0af"}"#, #"{"reason":"\#(String(repeating: "a", count: 41))"}"#, "IdleTimeout",
        #"{"reason":"0af00c"}"#, String(repeating: "a", count: 257),
    ])
    func `Only a word of GOAWAY is shown`(text: String) {
        var session = session()
        #expect(texts(session.received(goAway(0, text: text), now: Self.time(1))).first == "goneAway -")
    }

    @Test func `A reset says whether the request was processed`() {
        var session = session()
        start(&session, 3)
        func reset(_ stream: Int, _ code: HTTP2ErrorCode) -> HTTP2Frame {
            HTTP2Frame(streamID: HTTP2StreamID(stream), payload: .rstStream(code))
        }
        #expect(
            texts(session.received(reset(1, .refusedStream), now: Self.time(1)))
                == ["again: the server refused the stream"])
        #expect(
            texts(session.received(reset(3, .internalError), now: Self.time(1)))
                == ["unanswered: the server reset the stream"])
        _ = session.received(head(5, 201), now: Self.time(1))
        #expect(texts(session.received(reset(5, .cancel), now: Self.time(1))) == ["answer 201 0"])
        #expect(texts(session.closed(1)) == ["ended"])
    }

    @Test func `A connection that breaks knows what was written`() {
        var session = session()
        start(&session, 2)
        start(&session, 1, isOpen: false)
        _ = session.received(head(1, 201), now: Self.time(1))
        #expect(
            texts(session.ended("gone")) == ["leave true", "answer 201 0", "unanswered: gone", "again: gone"])
    }

    @Test func `A PING is awaited`() {
        var session = session()
        #expect(texts(session.check(now: Self.time(1))) == ["ping 1"])
        #expect(texts(session.check(now: Self.time(1))) == [])
        func answer(_ number: UInt64) -> HTTP2Frame {
            HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: number), ack: true))
        }
        #expect(texts(session.received(answer(9), now: Self.time(2))) == [])
        #expect(texts(session.received(answer(1), now: Self.time(2))) == ["pingAnswered"])
        #expect(texts(session.received(answer(1), now: Self.time(2))) == [])
        #expect(texts(session.check(now: Self.time(3))) == ["ping 2"])
        #expect(texts(session.tick(now: Self.time(7))) == [])
        #expect(texts(session.tick(now: Self.time(8))) == ["pingUnanswered", "leave true", "close", "close"])
    }

    @Test func `Silence is asked only while requests are in flight`() {
        var session = session(silence: .seconds(30))
        #expect(texts(session.tick(now: Self.time(100))) == [])
        start(&session, 1)
        #expect(texts(session.tick(now: Self.time(100))) == ["ping 1"])
        #expect(texts(session.tick(now: Self.time(105))) == ["pingUnanswered", "leave true", "close"])
    }

    @Test func `A deadline resets the stream, and distrusts a silent connection`() {
        var session = session()
        let (id, _) = session.start(.sample("/", number: 4), now: Self.time(1))
        session.opened(id)
        #expect(texts(session.interrupt(5, .deadline)) == [])
        #expect(texts(session.interrupt(4, .deadline)) == ["leave true", "unanswered: timeout", "reset 1"])
        #expect(texts(session.interrupt(4, .cancelled)) == [])
        #expect(texts(session.closed(id)) == ["ended", "close"])
    }

    @Test func `A deadline within the answer gives what has come`() {
        var session = session()
        let (id, _) = session.start(.sample("/", number: 4), now: Self.time(1))
        session.opened(id)
        _ = session.received(head(1, 201), now: Self.time(2))
        _ = session.received(data(1, 3), now: Self.time(2))
        #expect(texts(session.interrupt(4, .deadline)) == ["answer 201 3", "reset 1"])
    }

    @Test func `What NIO holds back was not sent`() {
        var session = session()
        _ = session.start(.sample("/", number: 4), now: Self.time(1))
        _ = session.received(settings(), now: Self.time(2))
        #expect(texts(session.interrupt(4, .cancelled)) == ["notSent: cancelled", "reset 1", "ended"])
    }
}
