import Domain
import Foundation
import Synchronization

@testable import AMQP
@testable import Messaging

extension Operation {
    /// IDs to and from the broker, in groups of 64, through librabbitmq and a socket.
    static var broker: [Operation] {
        [
            Operation("amqp.publish.64", count: 60) { _ in
                let link = try ScriptedBroker.connect()
                let messages = (0..<64).map { _ in
                    DispatchMessage(id: NotificationID(), traceparent: Samples.traceparent, isFirst: true)
                }
                let topology = DispatchTopology(retryDelays: [.seconds(1)])
                return { count in
                    for _ in 0..<count {
                        try link.handle.corked { () throws(AMQPError) in
                            for message in messages {
                                try link.handle.publish(AMQPMessage(message, route: .dispatch, topology: topology))
                            }
                        }
                        link.broker.discard()
                    }
                }
            },
            Operation("amqp.deliver.64", count: 60) { _ in
                let link = try ScriptedBroker.connect()
                let frames = (1...64).flatMap {
                    AMQPFrames.delivery(tag: UInt64($0), body: NotificationID().description)
                }
                return { count in
                    for _ in 0..<count {
                        try link.broker.write(frames)
                        var read = 0
                        while read < 64 {
                            guard case .delivered(let delivery)? = try link.handle.nextEvent() else { continue }
                            keep(try DispatchMessage(delivery))
                            read += 1
                        }
                    }
                }
            },
        ]
    }
}

/// The other end of a connection, which has said everything that a client waits for.
final class ScriptedBroker: Sendable {
    private let listener: Int32
    private let connection = Mutex<Int32>(-1)

    private init(listener: Int32) { self.listener = listener }

    static func connect() throws -> (handle: Handle, broker: ScriptedBroker) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            guard bind(listener, pointer, length) == 0, listen(listener, 1) == 0,
                getsockname(listener, pointer, &length) == 0
            else { throw Unexpected("There is no port to listen on.") }
        }
        let broker = ScriptedBroker(listener: listener)
        Thread { broker.accept() }.start()
        let node = AMQPConfiguration.Node(host: "127.0.0.1", port: UInt16(bigEndian: address.sin_port))
        var configuration = AMQPConfiguration(nodes: [node], connectionName: "bench")
        configuration.heartbeat = .zero
        configuration.connectTimeout = .seconds(60)
        return (try Handle(node: node, configuration: configuration), broker)
    }

    /// The replies to the whole login at once: the client reads one after another.
    private func accept() {
        let accepted = Foundation.accept(listener, nil, nil)
        connection.withLock { $0 = accepted }
        let frames = AMQPFrames.start + AMQPFrames.tune + AMQPFrames.openOk + AMQPFrames.channelOpenOk
        _ = Foundation.write(accepted, frames, frames.count)
    }

    private var descriptor: Int32 { connection.withLock { $0 } }

    func write(_ bytes: [UInt8]) throws {
        guard Foundation.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Unexpected("The broker cannot write.")
        }
    }

    /// Reads what has arrived.
    func discard() {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            while recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) == buffer.count {}
        }
    }
}

/// Frames as the broker writes them (AMQP 0-9-1, section 4.2.3).
enum AMQPFrames {
    /// Mechanisms and locales.
    static let start = method(0, 10, 10, [0, 9] + number(UInt32(0)) + long("PLAIN EXTERNAL") + long("en_US"))
    /// 2047 channels, frames of 128 KiB, no heartbeat.
    static let tune = method(0, 10, 30, number(UInt16(2047)) + number(UInt32(131_072)) + number(UInt16(0)))
    static let openOk = method(0, 10, 41, [0])
    static let channelOpenOk = method(1, 20, 11, number(UInt32(0)))

    /// A delivery of the dispatch queue.
    static func delivery(tag: UInt64, body: String) -> [UInt8] {
        let deliver = short("consumer") + number(tag) + [0] + short("securepush") + short("dispatch")
        var headers = short("traceparent") + [UInt8(ascii: "S")] + long(Samples.traceparent)
        headers += short("first") + [UInt8(ascii: "t"), 1]
        // Content type, headers, delivery mode and message ID.
        let flags: UInt16 = 1 << 15 | 1 << 13 | 1 << 12 | 1 << 7
        var properties = number(UInt16(60)) + number(UInt16(0)) + number(UInt64(body.utf8.count)) + number(flags)
        properties += short("text/plain") + number(UInt32(headers.count)) + headers + [2] + short(body)
        return method(1, 60, 60, deliver) + frame(2, 1, properties) + frame(3, 1, Array(body.utf8))
    }

    private static func method(_ channel: UInt16, _ kind: UInt16, _ id: UInt16, _ arguments: [UInt8]) -> [UInt8] {
        frame(1, channel, number(kind) + number(id) + arguments)
    }

    private static func frame(_ type: UInt8, _ channel: UInt16, _ content: [UInt8]) -> [UInt8] {
        [type] + number(channel) + number(UInt32(content.count)) + content + [0xCE]
    }

    private static func number(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private static func short(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
    private static func long(_ text: String) -> [UInt8] { number(UInt32(text.utf8.count)) + Array(text.utf8) }
}
