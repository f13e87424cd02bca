import AMQP
import Foundation
import Messaging
import ServiceConfiguration
import ServiceRuntime

extension Doctor {
    /// The broker takes our login and our messages; each queue has a leader and is as the services declare it.
    func broker() async -> [Finding] {
        let part = "AMQP_URL"
        guard let url = settings[part] else { return [] }
        var findings: [Finding] = []
        do {
            let configuration = try AMQPConfiguration(url: url, connectionName: "securepush doctor")
            let connection = try await AMQPConnection.open(configuration)
            findings.append(.ok(part, "\(configuration.endpoints) takes our login"))
            findings += await Doctor.alarm(configuration)
            findings += await queues(connection, configuration)
            await connection.close()
        } catch let error as AMQPError where error.code == .accessRefused {
            findings.append(.faulty(part, error.message, "Correct user, password or virtual host in AMQP_URL."))
        } catch let error as AMQPError {
            findings.append(
                .unreachable(part, error.message, "Is RabbitMQ running there? `make up` starts a private one."))
        } catch {
            findings.append(.faulty(part, "\(error)", "Correct AMQP_URL."))
        }
        return findings
    }

    /// Whether a memory or disk alarm keeps the broker from taking messages. It tells only those who publish; the
    /// message goes to a queue that does not exist, and so comes back.
    private static func alarm(_ configuration: AMQPConfiguration) async -> [Finding] {
        let publisher: AMQPPublisher
        do {
            publisher = try AMQPPublisher(
                configuration: configuration, publishTimeout: .seconds(3), logger: StoreSession.logger)
        } catch {
            return [.faulty("AMQP_URL", "\(error)", "Raise the limits of descriptors and threads (ulimit -n, -u).")]
        }
        let probe = AMQPMessage(exchange: "", routingKey: "securepush.doctor.no-such-queue", body: [])
        let answer = await withTaskGroup(of: Result<Void, AMQPError>?.self) { group in
            group.addTask {
                await publisher.run()
                return nil
            }
            group.addTask {
                let end = ContinuousClock.now + .seconds(5)
                while !publisher.isConnected && ContinuousClock.now < end {
                    try? await Task.sleep(for: .milliseconds(20))
                }
                // The first message after an alarm still gets through; what follows it does not.
                _ = await publisher.publish([probe])
                return await publisher.publish([probe]).first
            }
            defer { group.cancelAll() }
            while let result = await group.next() { if let result { return result } }
            return .success(())
        }
        guard case .failure(let error) = answer, error.code == .blocked || error.code == .timeout else { return [] }
        return [
            .faulty(
                "broker alarm", "the broker takes no messages: \(error.message)",
                "On the node: rabbitmqctl status (alarms, memory, disk); free memory or disk. Ingest keeps accepting.")
        ]
    }

    private func queues(_ connection: AMQPConnection, _ configuration: AMQPConfiguration) async -> [Finding] {
        var reader = ConfigurationReader(environment: settings.all)
        guard let delays = reader.read(ConfigurationKeys.retryDelays) else {
            let problem = reader.issues.first?.problem ?? "cannot be used"
            return [.faulty("RETRY_DELAYS", problem, "Correct RETRY_DELAYS, as in 1s,5s,30s,2m,10m.")]
        }
        var topology = DispatchTopology(retryDelays: delays)
        // A user without the right to configure can ask for a queue, and not compare its arguments.
        topology.isDeclared = reader.read(ConfigurationKeys.amqpDeclare) != .check
        var findings: [Finding] = []
        var areDeclared = true
        for queue in topology.declarations.queues {
            do {
                let status = try await connection.inspect(queue: queue.name)
                try await Doctor.expectLeader(of: queue.name, configuration)
                findings.append(Doctor.queue(queue.name, status, topology))
            } catch let error as AMQPError {
                areDeclared = areDeclared && error.code != .notFound
                findings.append(Doctor.queue(queue.name, error, configuration))
            } catch {
                findings.append(.unreachable("queue \(queue.name)", "\(error)", "Look at the broker's log."))
            }
        }
        if areDeclared { findings.append(await Doctor.compare(topology, connection)) }
        return findings
    }

    /// On a connection of its own, for a queue without a leader leaves it unusable.
    private static func expectLeader(of queue: String, _ configuration: AMQPConfiguration) async throws {
        var configuration = configuration
        configuration.replyTimeout = .seconds(2)
        try await AMQPConnection.with(configuration) { try await $0.expectLeader(of: queue) }
    }

    /// A queue that answers: somebody takes what waits for dispatch, and nothing was given up.
    static func queue(_ name: String, _ status: AMQPQueueStatus, _ topology: DispatchTopology) -> Finding {
        let part = "queue \(name)"
        if name == topology.deadQueue, status.messages > 0 {
            return .faulty(
                part, "\(status.messages.grouped) dead letters wait",
                "securepush dead-letters list tells why; replay or purge them.")
        }
        if name == topology.dispatchQueue, status.consumers == 0 {
            return .faulty(
                part, "\(status.messages.grouped) messages wait, and nobody consumes it", "Start a dispatcher.")
        }
        return .ok(part, "\(status.messages.grouped) messages wait, \(status.consumers) consumers")
    }

    /// A queue that does not answer as it should.
    static func queue(_ name: String, _ error: AMQPError, _ configuration: AMQPConfiguration) -> Finding {
        let part = "queue \(name)"
        switch error.code {
        case .notFound:
            return .faulty(part, "is not declared", "Start a dispatcher or ingest once; they declare what they use.")
        case .queueUnavailable:
            return .faulty(
                part, "has no leader: it confirms and delivers nothing", LeaderlessQueue.remedy(name, configuration))
        default: return .unreachable(part, error.message, "Look at the broker's log.")
        }
    }

    /// Everything is there, so that declaring it again only compares; the broker names the argument that differs.
    private static func compare(_ topology: DispatchTopology, _ connection: AMQPConnection) async -> Finding {
        let part = "topology"
        do {
            try await connection.declare(topology.declarations)
            return .ok(part, "as the services declare it")
        } catch {
            let advice =
                "If a setting was changed (RETRY_DELAYS), change it back. Else replay or purge the dead letters, stop "
                + "the services, rabbitmqctl delete_queue NAME, and start them; the outbox fills the queues again."
            return .faulty(part, error.message, advice)
        }
    }
}

extension Doctor {
    /// librabbitmq has the fixes of 2026 (CVE-2026-44235, -44236, -59986, -61547): Debian 12 has them from
    /// 0.11.0-1+deb12u3 on, upstream from 0.16.0 on.
    func library() async -> [Finding] {
        guard settings["AMQP_URL"] != nil, let version = Doctor.installedVersion() else { return [] }
        return [Doctor.library(version: version)]
    }

    static func library(version: String) -> Finding {
        let part = "librabbitmq"
        let numbers = version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").compactMap { Int($0) }
        if !numbers.lexicographicallyPrecedes([0, 16]) { return .ok(part, "\(version) has the fixes of 2026") }
        if let mark = version.firstRange(of: "+deb12u") {
            let update = Int(version[mark.upperBound...].prefix { $0.isNumber }) ?? 0
            if update >= 3 { return .ok(part, "\(version) has the fixes of 2026") }
        } else if version.contains("+deb") || version.contains("ubuntu") {
            return .ok(part, "\(version); whether it has the fixes of 2026, its changelog says")
        }
        return .faulty(
            part, "\(version) lacks the fixes of CVE-2026-44235, -44236, -59986 and -61547",
            "apt-get update && apt-get install --only-upgrade librabbitmq4, or take 0.16.0 or newer.")
    }

    /// The package's version where dpkg knows it; elsewhere nothing is said.
    private static func installedVersion() -> String? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/dpkg-query")
        process.arguments = ["--show", "--showformat=${Version}", "librabbitmq4"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = try? output.fileHandleForReading.readToEnd()
        process.waitUntilExit()
        let version = String(decoding: data ?? Data(), as: UTF8.self)
        return process.terminationStatus == 0 && !version.isEmpty ? version : nil
    }
}
