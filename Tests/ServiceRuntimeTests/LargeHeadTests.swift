import NIOCore
import NIOEmbedded
import Testing

@testable import ServiceRuntime

/// A large head that arrives before the acknowledgement of our SETTINGS.
@Suite struct LargeHeadTests {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let settings = frame(4, 0, 6)
    private static let acknowledgement = frame(4, 1, 0)
    private static let ping = frame(6, 0, 8)

    private static func frame(_ type: UInt8, _ flags: UInt8, _ length: Int, stream: UInt8 = 0) -> [UInt8] {
        [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags, 0, 0, 0, stream]
            + [UInt8](repeating: type, count: length)
    }

    private static let large = frame(1, 4, 14_000, stream: 1)
    private static let divided = frame(1, 0, 100, stream: 1) + frame(9, 4, 9000, stream: 1)
    private static let small = frame(1, 4, 8192, stream: 3)
    private static let body = frame(0, 1, 1000, stream: 1)

    /// What arrives after the preface and SETTINGS, and the order in which it is passed on.
    private static let cases: [(arriving: [[UInt8]], passed: [[UInt8]])] = [
        ([small, acknowledgement, large], [small, acknowledgement, large]),
        ([large, acknowledgement, small], [acknowledgement, large, small]),
        ([large, body, ping, acknowledgement, ping], [acknowledgement, large, body, ping, ping]),
        ([divided, acknowledgement], [acknowledgement, divided]),
        (
            [small, large, small, acknowledgement, acknowledgement],
            [small, acknowledgement, large, small, acknowledgement]
        ),
        ([acknowledgement, divided, body], [acknowledgement, divided, body]),
    ]

    @Test(arguments: cases.indices, [1, 7, 4096, 1_000_000])
    func `An acknowledgement comes first`(_ index: Int, chunk: Int) throws {
        let (arriving, passed) = Self.cases[index]
        let channel = EmbeddedChannel(handler: LargeHeadHandler())
        var bytes = (Self.preface + Self.settings + arriving.flatMap { $0 })[...]
        while !bytes.isEmpty {
            try channel.writeInbound(ByteBuffer(bytes: bytes.prefix(chunk)))
            bytes = bytes.dropFirst(chunk)
        }
        #expect(try Self.received(channel) == Self.preface + Self.settings + passed.flatMap { $0 })
    }

    @Test func `Who never acknowledges is not waited for without end`() throws {
        let channel = EmbeddedChannel(handler: LargeHeadHandler())
        try channel.writeInbound(ByteBuffer(bytes: Self.preface + Self.settings + Self.large))
        #expect(try Self.received(channel) == Self.preface + Self.settings)
        let flood = [UInt8](repeating: 0, count: LargeHeadHandler.maxHeld)
        try channel.writeInbound(ByteBuffer(bytes: flood))
        #expect(try Self.received(channel) == Self.large + flood)
        try channel.writeInbound(ByteBuffer(bytes: Self.ping))
        #expect(try Self.received(channel) == Self.ping)
    }

    @Test func `A large head waits no longer than a head may`() throws {
        let channel = EmbeddedChannel(handler: LargeHeadHandler(timeout: .seconds(10)))
        try channel.writeInbound(ByteBuffer(bytes: Self.preface + Self.settings + Self.large.prefix(9000)))
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        // A head that drips has no more time.
        try channel.writeInbound(ByteBuffer(bytes: [UInt8(1)]))
        #expect(try Self.received(channel) == Self.preface + Self.settings)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try Self.received(channel) == Array(Self.large.prefix(9001)))
        try channel.writeInbound(ByteBuffer(bytes: Self.ping))
        #expect(try Self.received(channel) == Self.ping)
    }

    @Test func `Who never acknowledges fills no memory`() throws {
        let channel = EmbeddedChannel(handler: LargeHeadHandler())
        try channel.writeInbound(ByteBuffer(bytes: Self.preface + Self.settings + Self.body.prefix(5)))
        var largest = 0
        for _ in 0..<1000 {
            // A part of the next frame's header always waits.
            try channel.writeInbound(ByteBuffer(bytes: Self.body.dropFirst(5) + Self.body.prefix(5)))
            while let part = try channel.readInbound(as: ByteBuffer.self) {
                largest = max(largest, part.storageCapacity)
            }
        }
        #expect(largest < 32 * 1024)
    }

    private static func received(_ channel: EmbeddedChannel) throws -> [UInt8] {
        var received: [UInt8] = []
        while let part = try channel.readInbound(as: ByteBuffer.self) { received += part.readableBytesView }
        return received
    }
}
