import Foundation
import StackKit
import TestSupport
import Testing

@testable import AMQP

@Suite(.timeLimit(.minutes(5))) struct ConnectionFailureTests {
    private func failure(_ url: String) async throws -> AMQPError? {
        do {
            try await AMQPConnection.open(try brokerConfiguration(url)).close()
            return nil
        } catch let error as AMQPError { return error }
    }

    @Test func `Wrong credentials`() async throws {
        let error = try await failure("amqp://guest:hunter2@127.0.0.1:\(try brokerPort())")
        #expect(error?.code == .accessRefused)
        #expect(error?.replyCode == 403)
        #expect(error.map { !"\($0)".contains("hunter2") } == true)
        let start = "logging in at amqp://127.0.0.1:\(try brokerPort())/%2F: ACCESS_REFUSED"
        #expect(error?.message.hasPrefix(start) == true)
    }

    @Test func `Unknown virtual host`() async throws {
        let error = try await failure("amqp://127.0.0.1:\(try brokerPort())/nobody")
        #expect(error?.code == .accessRefused)
        #expect(error?.message.contains("nobody") == true)
    }

    @Test func `Nobody listens`() async throws {
        let error = try await failure("amqp://127.0.0.1:1")
        #expect(error?.code == .connectFailed)
        #expect(error?.message == "connecting to amqp://127.0.0.1:1/%2F: connection refused")
    }

    @Test func `The reason is asked for again where the library drops it`() {
        #expect(ConnectFailure.probe("127.0.0.1", 1) == ECONNREFUSED)
        #expect(ConnectFailure.probe("nobody.invalid", 1) == nil)
        #expect(ConnectFailure.text(of: ECONNREFUSED) == "connection refused")
        #expect(ConnectFailure.text(of: EINPROGRESS) == nil && ConnectFailure.text(of: 0) == nil)
    }

    @Test(arguments: ["amqp", "amqps"]) func `A peer that hangs up`(_ scheme: String) async throws {
        // Connects to nobody, and so closes each connection at once.
        let proxy = try TCPProxy(to: 1)
        defer { proxy.close() }
        let error = try await failure("\(scheme)://127.0.0.1:\(proxy.port)")
        #expect(error?.code == (scheme == "amqp" ? .connectFailed : .tls))
        #expect(error?.message.contains("127.0.0.1:\(proxy.port)") == true)
        let reasons = ["the peer closed the connection", "unexpected eof while reading"]
        #expect(reasons.contains { error?.message.contains($0) == true }, "\(error?.message ?? "none")")
    }

    @Test func `Unknown host`() async throws {
        #expect(try await failure("amqp://nobody.invalid")?.code == .connectFailed)
    }

    @Test(arguments: ["192.0.2.1:5672", "proxy"]) func `A silent host ends at the deadline`(_ address: String)
        async throws
    {
        let proxy = try TCPProxy(to: try brokerPort())
        defer { proxy.close() }
        proxy.stall()
        let host = address == "proxy" ? "127.0.0.1:\(proxy.port)" : address
        // Without the deadline, connecting would last longer than the suite may.
        #expect(try await failure("amqp://\(host)?connection_timeout=300") != nil)
    }

    @Test func `Other arguments of a queue name the queue and the reason`() async throws {
        try await withQueue(arguments: ["x-max-length": 1]) { queue, topology in
            let other = AMQPTopology(queues: [.init(queue, arguments: ["x-max-length": 2])])
            try await AMQPConnection.with(try brokerConfiguration()) { connection in
                try await connection.declare(topology)
                let error = await #expect(throws: AMQPError.self) { try await connection.declare(other) }
                #expect(error?.code == .preconditionFailed)
                #expect(error?.message.contains(queue) == true)
                #expect(error?.message.contains("x-max-length") == true)
                // The connection is usable after it.
                #expect(try await connection.inspect(queue: queue).messages == 0)
            }
        }
    }

    @Test func `An unknown queue is not found`() async throws {
        try await AMQPConnection.with(try brokerConfiguration()) { connection in
            let error = await #expect(throws: AMQPError.self) { try await connection.inspect(queue: "nobody") }
            #expect(error?.code == .notFound)
            #expect(await connection.isOpen)
        }
    }

    @Test func `An idle connection stays open by heartbeats`() async throws {
        let url = "amqp://127.0.0.1:\(try brokerPort())?heartbeat=5"
        try await withQueue { _, topology in
            try await withPublisher(try brokerConfiguration(url), topology) { publisher in
                // The broker hangs up after two heartbeats of silence.
                let wasLost = try await eventually(within: .seconds(12)) { !publisher.isConnected }
                #expect(!wasLost)
            }
        }
    }

    @Test func `A stalled peer is noticed within two heartbeats`() async throws {
        let proxy = try TCPProxy(to: try brokerPort())
        defer { proxy.close() }
        let configuration = try brokerConfiguration("amqp://127.0.0.1:\(proxy.port)?heartbeat=1")
        try await withQueue { queue, topology in
            try await withPublisher(configuration, topology, timeout: .seconds(50)) { publisher in
                proxy.stall()
                // Lost, and not timed out: the heartbeats were missed before the publish had run out of time.
                #expect(await codes(publisher, messages(0..<1, to: queue)) == [.connectionLost])
                proxy.cut()
                let isBack = try await eventually { publisher.isConnected }
                #expect(isBack)
                #expect(await codes(publisher, messages(0..<1, to: queue)).isEmpty)
            }
        }
    }

    @Test func `A publish that is not confirmed in time fails`() async throws {
        let proxy = try TCPProxy(to: try brokerPort())
        defer { proxy.close() }
        try await withQueue { queue, topology in
            let configuration = try brokerConfiguration("amqp://127.0.0.1:\(proxy.port)")
            try await withPublisher(configuration, topology, timeout: .milliseconds(200)) { publisher in
                proxy.stall()
                #expect(await codes(publisher, messages(0..<2, to: queue)) == [.timeout, .timeout])
            }
        }
    }
}
