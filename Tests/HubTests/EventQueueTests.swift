import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import NIOPosix
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Hub

@Suite struct EventQueueTests {
    private static func event(_ number: Int, size: Int = 8) -> ByteBuffer {
        ByteBuffer(string: "\(number)" + String(repeating: "x", count: max(0, size - "\(number)".count)))
    }

    private static func texts(_ queue: EventQueue) -> [String] {
        var texts: [String] = []
        while let event = queue.take() { texts.append(String(buffer: event)) }
        return texts
    }

    @Test func `The oldest make room and the reader is told`() {
        let queue = EventQueue()
        for number in 0..<(EventQueue.maxEvents + 7) { queue.put(Self.event(number)) }
        #expect(queue.waiting.events == EventQueue.maxEvents)
        #expect(queue.droppedCount == 7)
        let texts = Self.texts(queue)
        #expect(texts[0] == "event: dropped\ndata: {\"Count\":7}\n\n")
        #expect(texts[1].hasPrefix("7x"))
        #expect(texts.count == EventQueue.maxEvents + 1)
        queue.put(Self.event(1))
        #expect(Self.texts(queue).count == 1)
    }

    @Test func `Bytes are bounded and one large event is taken`() {
        let queue = EventQueue()
        for number in 0..<20 { queue.put(Self.event(number, size: EventQueue.maxBytes / 4)) }
        #expect(queue.waiting.events == 4)
        #expect(queue.waiting.bytes <= EventQueue.maxBytes)
        queue.put(Self.event(1, size: EventQueue.maxBytes * 2))
        #expect(queue.waiting.events == 1)
    }

    @Test func `After the end nothing is kept`() {
        let ends = Mutex(0)
        let queue = EventQueue { ends.withLock { $0 += 1 } }
        queue.put(Self.event(1))
        queue.finish()
        queue.finish()
        queue.put(Self.event(2))
        queue.putHeartbeat()
        #expect(queue.take() == nil)
        #expect(queue.waiting.bytes == 0)
        #expect(ends.withLock { $0 } == 1)
    }

    @Test func `A heartbeat is only for an idle stream`() {
        let queue = EventQueue()
        queue.putHeartbeat()
        queue.putHeartbeat()
        #expect(Self.texts(queue) == [": heartbeat\n\n"])
    }

    @Test func `The feed has a bound of listeners`() {
        let feed = EventFeed()
        let queues = (0..<EventFeed.maxListeners).map { _ in feed.listen() }
        #expect(!feed.hasCapacity)
        let refused = feed.listen()
        feed.publish(.cleared, .object([]))
        #expect(refused.take() == nil)
        #expect(queues.allSatisfy { $0.waiting.events == 1 })
        queues[0].finish()
        #expect(feed.hasCapacity)
    }

    /// Before, everything that such a reader did not take was kept, and the emulator could not stop.
    @Test(arguments: ["/emulator/events", "/emulator/devices/aa/stream"])
    func `A reader that stops reading holds little and does not delay the shutdown`(_ path: String) async throws {
        let stuck = Mutex<(any Channel)?>(nil)
        let held = Mutex<EventQueue?>(nil)
        try await withEmulator(.live) { emulator in
            try await emulator.register("aa", tags: "t")
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelOption(.autoRead, value: false)
                .channelOption(.socketOption(.so_rcvbuf), value: 4096)
                .connect(host: "127.0.0.1", port: emulator.port).get()
            stuck.withLock { $0 = channel }
            try await channel.writeAndFlush(ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
            #expect(
                try await eventually { !(emulator.state.feed.queues + emulator.state.devices.queues).isEmpty })
            let queue = try #require((emulator.state.feed.queues + emulator.state.devices.queues).first)
            let body = String(repeating: "x", count: 4000)
            let isFull = try await eventually {
                for _ in 0..<50 { _ = try await emulator.send(body, tags: "t") }
                return queue.droppedCount > 0
            }
            #expect(isFull)
            #expect(queue.waiting.bytes <= EventQueue.maxBytes)
            #expect(queue.waiting.events <= EventQueue.maxEvents)
            held.withLock { $0 = queue }
        }
        // Here the emulator has stopped, and its client has not read yet.
        #expect(held.withLock { $0 }?.waiting.bytes == 0)
        try await stuck.withLock { $0 }?.close()
    }
}
