import AMQP
import StackKit
import TestSupport
import Testing

extension OwnBrokerTests {
    @Suite struct TLSTests {
        private func failure(_ url: String) async throws -> AMQPError? {
            do {
                try await AMQPConnection.open(try brokerConfiguration(url)).close()
                return nil
            } catch let error as AMQPError { return error }
        }

        private func withTLSServer(
            _ body: (RabbitMQServer, TestCertificates) async throws -> Void
        ) async throws {
            try await TestCertificates.with { certificates in
                let configuration = { (server: RabbitMQServer) in
                    [
                        "listeners.ssl.1 = 127.0.0.1:\(server.secondPort)",
                        "ssl_options.cacertfile = \(certificates.path("ca.pem"))",
                        "ssl_options.certfile = \(certificates.path("server.pem"))",
                        "ssl_options.keyfile = \(certificates.path("server-key.pem"))",
                    ]
                }
                try await withRabbitMQServer(configuration: configuration) { server in
                    // The node is taken as started once it answers at its plain port; it opens this one later.
                    let url = "amqps://127.0.0.1:\(server.secondPort)?verify=verify_none"
                    let isOpen = try await eventually { try await failure(url)?.code != .connectFailed }
                    #expect(isOpen)
                    try await body(server, certificates)
                }
            }
        }

        @Test func `The server's certificate must be trusted and its own`() async throws {
            try await withTLSServer { server, certificates in
                let port = server.secondPort
                let good = "amqps://localhost:\(port)?cacertfile=\(certificates.path("ca.pem"))"
                let trusted = try await failure(good)
                #expect(trusted == nil)

                let untrusted = try await failure(
                    "amqps://localhost:\(port)?cacertfile=\(certificates.path("other.pem"))")
                #expect(untrusted?.code == .tls)
                let reason = "certificate verify failed: self-signed certificate in certificate chain"
                #expect(untrusted?.message == "connecting to amqps://localhost:\(port)/%2F: \(reason)")

                let otherName = try await failure(
                    "amqps://127.0.0.1:\(port)?cacertfile=\(certificates.path("ca.pem"))")
                #expect(otherName?.code == .tls)
                #expect(otherName?.message.contains("the host name does not match") == true)

                let unverified = try await failure("amqps://127.0.0.1:\(port)?verify=verify_none")
                #expect(unverified == nil)
                let noFile = try await failure("amqps://localhost:\(port)?cacertfile=/nowhere.pem")
                #expect(noFile?.code == .tls)
                #expect(noFile?.message.contains("/nowhere.pem") == true)
                // A plain listener does not speak TLS.
                let plain = try await failure(
                    "amqps://localhost:\(server.port)?cacertfile=\(certificates.path("ca.pem"))")
                #expect(plain?.code == .tls)
                #expect(plain?.message.contains("(the port does not speak TLS)") == true)
                let bare = try await failure("amqp://localhost:\(port)")
                #expect(bare?.code == .connectFailed)
                #expect(bare?.message.hasSuffix("does the port speak AMQP without TLS?") == true)

                try await publishes(good)
            }
        }

        private func publishes(_ url: String) async throws {
            let configuration = try brokerConfiguration(url)
            let topology = AMQPTopology(queues: [.init("secure", arguments: ["x-queue-type": "quorum"])])
            try await withPublisher(configuration, topology) { publisher in
                #expect(await codes(publisher, messages(0..<1000, to: "secure")).isEmpty)
            }
            try await withConsumer(configuration, topology, queue: "secure") { consumer in
                let taken = try await take(1000, from: consumer)
                #expect(taken.count == 1000)
            }
        }
    }
}
