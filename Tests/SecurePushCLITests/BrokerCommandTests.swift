import AMQP
import Domain
import Foundation
import Foundations
import Messaging
import ServiceRuntime
import StackKit
import Storage
import TestSupport
import Testing

@testable import SecurePushCLI

/// Commands against a RabbitMQ node of the suite's own, for they work on the queues that every system has.
@Suite(.serialized, .timeLimit(.minutes(4))) struct BrokerCommandTests {
    private func findings(_ server: RabbitMQServer, _ more: [String: String] = [:]) async -> [String: Finding] {
        let settings = Settings(["AMQP_URL": server.url].merging(more) { $1 })
        let findings = await Doctor(settings: settings).examine { _ in }
        return Dictionary(findings.map { ($0.part, $0) }) { first, _ in first }
    }

    private func publish(_ messages: [DispatchMessage], reason: String, _ configuration: MessagingConfiguration)
        async throws
    {
        try await withPublisher(configuration) { publisher in
            for result in await publisher.publish(messages, to: .dead(reason: reason)) { _ = try result.get() }
        }
    }

    @Test func `What the doctor finds at a broker`() async throws {
        try await withRabbitMQServer { server in
            let fresh = await findings(server)
            #expect(fresh["AMQP_URL"]?.state == .ok)
            #expect(fresh["queue securepush.dispatch"]?.detail == "is not declared")
            #expect(fresh["topology"] == nil && fresh["broker alarm"] == nil)

            let wrong = server.url.replacing("guest:guest", with: "guest:wrong")
            let refused = await findings(server, ["AMQP_URL": wrong])
            #expect(refused["AMQP_URL"]?.advice?.contains("password") == true)

            let configuration = try MessagingConfiguration(
                amqpURL: server.url, retryDelays: [.seconds(1), .seconds(5)], connectionName: "test")
            try await publish([DispatchMessage(id: NotificationID())], reason: "503", configuration)
            try await AMQPConnection.with(configuration.amqp) { connection in
                // As if it had been declared by hand.
                let name = configuration.topology.retryQueue(delay: .seconds(5))
                try await connection.delete(queue: name)
                let other: AMQPTable = ["x-queue-type": "quorum", "x-message-ttl": 7000]
                try await connection.declare(AMQPTopology(queues: [.init(name, arguments: other)]))
            }
            let found = await findings(server, ["RETRY_DELAYS": "1s,5s"])
            #expect(found["queue securepush.dispatch"]?.advice == "Start a dispatcher.")
            #expect(found["queue securepush.dead"]?.detail == "1 dead letter")
            let other = try #require(found["queue securepush.retry.5"])
            #expect(other.state == .failed && other.advice?.contains("delete_queue securepush.retry.5") == true)
            #expect(other.detail.contains("securepush.retry.5") && other.detail.contains("x-"), "\(other)")
            #expect(found["topology"] == nil)

            try await server.control("set_vm_memory_high_watermark", "0.00001")
            #expect(try await eventually { await findings(server)["broker alarm"]?.state == .failed })
            try await server.control("set_vm_memory_high_watermark", "0.4")
            #expect(try await eventually { await findings(server)["broker alarm"] == nil })
        }
    }

    /// A service stops declaring at the first queue that it cannot have, so starting one does not help.
    @Test func `A queue with other arguments is named as the services name it, and is why others are missing`()
        async throws
    {
        try await withRabbitMQServer { server in
            var configuration = try MessagingConfiguration(
                amqpURL: server.url, retryDelays: [.seconds(1)], connectionName: "test")
            let queue = configuration.topology.dispatchQueue
            try await AMQPConnection.with(configuration.amqp) {
                try await $0.declare(AMQPTopology(queues: [.init(queue)]))
            }
            let publisher = try RabbitMQDispatchPublisher(configuration: configuration, logger: .silent)
            try await withRunning(publisher) {
                let isRefused = try await eventually { publisher.problem?.contains("x-") == true }
                #expect(isRefused, "\(publisher.problem ?? "")")
                let found = await findings(server, ["RETRY_DELAYS": "1s"])
                let other = try #require(found["queue \(queue)"])
                #expect(other.state == .failed && publisher.problem?.contains(other.detail) == true, "\(other)")
                let missing = found.values.filter { $0.detail == "is not declared" }
                #expect(!missing.isEmpty && missing.allSatisfy { $0.advice?.contains("when \(queue) has") == true })
            }
            configuration.topology.isDeclared = false
            #expect(Doctor.adviceForMissing(configuration.topology, besides: nil).contains("AMQP_DECLARE=auto"))
        }
    }

    @Test(arguments: [true, false])
    func `The doctor names a binding that is missing`(_ isExchangeGone: Bool) async throws {
        try await withRabbitMQServer { server in
            var configuration = try MessagingConfiguration(
                amqpURL: server.url, retryDelays: [.seconds(1)], connectionName: "test")
            let (topology, amqp) = (configuration.topology, configuration.amqp)
            try await AMQPConnection.with(amqp) { try await $0.declare(topology.declarations) }
            // Neither the consumer nor the doctor declares it again.
            configuration.topology.isDeclared = false
            let consumer = try RabbitMQDispatchConsumer(
                configuration: configuration,
                publisher: try RabbitMQDispatchPublisher(configuration: configuration, logger: .silent), logger: .silent
            )
            try await withRunning(consumer) {
                let isConnected = try await eventually { consumer.isConnected }
                #expect(isConnected)
                let settings = ["RETRY_DELAYS": "1s", "AMQP_DECLARE": "check"]
                #expect(await findings(server, settings)["binding"] == nil)
                try await AMQPConnection.with(amqp) { connection in
                    if isExchangeGone {
                        try await connection.delete(exchange: topology.exchange)
                    } else {
                        for binding in topology.declarations.bindings { try await connection.unbind(binding) }
                    }
                }
                let found = await findings(server, settings)
                #expect(found["binding"]?.state == .failed)
                let names = [topology.dispatchQueue, topology.exchange, DispatchTopology.dispatchKey]
                for name in names { #expect(found["binding"]?.detail.contains(name) == true) }
            }
        }
    }

    @Test func `List, show, replay and purge`() async throws {
        try await withRabbitMQServer { server in
            try await withTemporaryFolder { folder in
                let database = "sqlite:\(folder)/data.sqlite"
                _ = try await StoreSession.migrate(database)
                let ids = try await StoreSession.with(database) { try await Self.fill($0) }
                let configuration = try MessagingConfiguration(
                    amqpURL: server.url, retryDelays: [.seconds(1)], connectionName: "test")
                try await publish(
                    ids.map { DispatchMessage(id: $0, platforms: [.fcmv1], attempt: 9) },
                    reason: "out of attempts: 503",
                    configuration)
                try await publish([DispatchMessage(id: NotificationID())], reason: "lost", configuration)
                let environment = ["AMQP_URL": server.url, "DATABASE_URL": database, "RETRY_DELAYS": "1s"]
                func run(_ arguments: String...) async throws -> CommandLineRun {
                    try await CommandLineRun(["dead-letters"] + arguments, environment, in: folder)
                }
                // Three looks, so that what came back is looked at too.
                for (limit, least) in [("100", 3), ("2", 1), ("100", 3)] {
                    let list = try await run("list", "--limit", limit)
                    #expect(list.code == 0 && list.errors.contains("4 dead letters in total"), "\(list.errors)")
                    let known = list.lines.filter { line in ids.contains { line.hasPrefix($0.description) } }
                    #expect(known.count >= least && known.allSatisfy { $0.contains("alice") })
                }
                let filtered = try await run("list", "--reason", "LOST", "--json")
                #expect(filtered.lines.count == 1 && filtered.output.contains(#""Status":"unknown""#))
                let show = try await run("show", ids[1].description)
                #expect(show.code == 0 && show.output.contains("fcmv1: out of attempts: 503"))
                #expect(show.output.contains("apple") && show.output.contains("HUB MESSAGE"))
                let missing = try await run("show", NotificationID().description)
                #expect(missing.code == 1 && missing.errors.contains("no dead letter"))

                let replay = try await run("replay", ids[0].description)
                #expect(replay.code == 0 && replay.lines == ["replayed \(ids[0]) to fcmv1"], "\(replay.errors)")
                let all = try await run("replay", "--all", "--json")
                #expect(all.code == 1 && all.lines.last == #"{"Dropped":0,"Left":1,"NotFound":0,"Replayed":2}"#)
                let messages = try await Self.dispatched(configuration, count: 3)
                #expect(Set(messages) == Set(ids.map { DispatchMessage(id: $0, platforms: [.fcmv1]) }))
                let dropped = try await run("replay", "--all", "--drop")
                #expect(dropped.code == 0 && dropped.output.hasPrefix("dropped"))

                try await publish([DispatchMessage(id: NotificationID())], reason: "x", configuration)
                #expect(try await run("purge").code == 64)
                #expect(try await run("purge", "--yes").output == "purged 1 dead letter\n")
                #expect(try await run("list").output.isEmpty)

                // A sender's resend ends the dead letter, too; that of another notification stays.
                let (id, other) = (NotificationID(), NotificationID())
                let failed = [id, other].map { DispatchMessage(id: $0, platforms: [.apple]) }
                try await publish(failed, reason: "x", configuration)
                let answer = #"{"Id":"\#(id)","Platforms":["apple"]}"#
                try await ScriptedServer.with({ _, _ in .init(status: 202, body: answer) }) { ingest in
                    let sender = ["INGEST_URL": ingest.url, "INGEST_API_KEY": "spk_test"]
                    let resend = try await CommandLineRun(
                        ["resend", id.description], environment.merging(sender) { $1 }, in: folder)
                    #expect(resend.code == 0 && resend.errors.contains("1 dead letter removed"), "\(resend.errors)")
                }
                let left = try await run("list", "--json")
                #expect(left.lines.count == 1 && left.output.contains(other.description), "\(left.output)")
            }
        }
    }

    /// Three notifications that apple took and fcmv1 was given up for.
    private static func fill(_ store: any Store) async throws -> [NotificationID] {
        let ids = (0..<3).map { _ in NotificationID() }.sorted()
        for id in ids {
            let notification = Notification(
                id: id, sender: "tests", recipient: UserName("alice")!, createdAt: .now, expiresAt: .now + .seconds(600)
            )
            try await store.append([
                SealedNotification(notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]))
            ])
            let attempt = try await store.claim([id], now: .now)[id]?.attempt ?? 0
            let deliveries = [
                Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: .now),
                Delivery(platform: .fcmv1, state: .dead, attempts: 10, error: "503", updatedAt: .now),
            ]
            try await store.record([DispatchOutcome(id: id, attempt: attempt, deliveries: deliveries)])
        }
        return ids
    }

    /// What waits in the dispatch queue.
    private static func dispatched(_ configuration: MessagingConfiguration, count: Int) async throws
        -> [DispatchMessage]
    {
        try await AMQPConnection.with(configuration.amqp) { connection in
            var messages: [DispatchMessage] = []
            while messages.count < count,
                let next = try await connection.get(queue: configuration.topology.dispatchQueue)
            {
                let headers = next.message.headers
                #expect(headers["attempt"] == nil)
                let platforms = headers["platforms"]?.string?.split(separator: ",").map {
                    Platform(rawValue: String($0))
                }
                let id = try #require(NotificationID(utf8: next.message.body))
                messages.append(DispatchMessage(id: id, platforms: platforms))
                try await connection.acknowledge(next)
            }
            return messages
        }
    }
}
