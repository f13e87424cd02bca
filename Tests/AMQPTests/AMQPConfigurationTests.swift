import Testing

@testable import AMQP

@Suite struct AMQPConfigurationTests {
    private func node(_ url: String) throws -> AMQPConfiguration.Node {
        try #require(try AMQPConfiguration(url: url, connectionName: "test").nodes.first)
    }

    @Test func `A plain URL has the defaults`() throws {
        let node = try node("amqp://localhost")
        #expect(node == AMQPConfiguration.Node(host: "localhost", port: 5672))
        #expect(node.description == "amqp://localhost:5672/%2F")
    }

    @Test func `Everything is percent-decoded`() throws {
        let node = try node("amqp://us%40er:p%2Fa%2C%3Ass@h:1234/a%2Fb")
        #expect(node.login == .plain(user: "us@er", password: "p/a,:ss"))
        #expect(node.host == "h")
        #expect(node.port == 1234)
        #expect(node.virtualHost == "a/b")
    }

    @Test(arguments: ["amqp://h", "amqp://h/", "amqp://h/%2F", "amqp://h/%2f"])
    func `Default virtual host`(_ url: String) throws {
        #expect(try node(url).virtualHost == "/")
    }

    @Test func `A host may be an IPv6 address`() throws {
        let node = try node("amqp://u:p@[::1]:5673/v")
        #expect(node.host == "::1")
        #expect(node.port == 5673)
        #expect(node.description == "amqp://[::1]:5673/v")
    }

    @Test func `Nodes of a cluster`() throws {
        let url = "amqp://u:a,b@one/v,amqps://u:p@two:99/v?heartbeat=7&connection_timeout=1500"
        let configuration = try AMQPConfiguration(url: url, connectionName: "test")
        #expect(configuration.nodes.map(\.host) == ["one", "two"])
        #expect(configuration.nodes.map(\.port) == [5672, 99])
        #expect(configuration.nodes.map { $0.tls != nil } == [false, true])
        #expect(configuration.heartbeat == .seconds(7))
        #expect(configuration.connectTimeout == .milliseconds(1500))
    }

    /// Before, both were read and ignored.
    @Test func `Limits of the connection`() throws {
        let given = try AMQPConfiguration(url: "amqp://h?channel_max=3&frame_max=8192", connectionName: "test")
        #expect(given.maxChannels == 3 && given.maxFrame == 8192)
        let none = try AMQPConfiguration(url: "amqp://h", connectionName: "test")
        #expect(none.maxChannels == 16 && none.maxFrame == 131_072)
        for parameter in ["channel_max=70000", "channel_max=x", "frame_max=4095", "frame_max=-1"] {
            #expect(throws: AMQPConfigurationError.self) {
                try AMQPConfiguration(url: "amqp://h?\(parameter)", connectionName: "test")
            }
        }
    }

    @Test func `Hosts that are not verified`() throws {
        let url = "amqp://one,amqps://two,amqps://three?verify=verify_none"
        #expect(try AMQPConfiguration(url: url, connectionName: "test").unverifiedHosts == ["one", "three"])
    }

    @Test func `A URL of amqps asks for TLS`() throws {
        let node = try node("amqps://h?cacertfile=%2Fca.pem&verify=verify_none&certfile=c&keyfile=k")
        #expect(node.port == 5671)
        let tls = AMQPConfiguration.TLS(
            verifiesPeer: false, authoritiesFile: "/ca.pem", certificateFile: "c", keyFile: "k")
        #expect(node.tls == tls)
        #expect(try self.node("amqps://h").tls?.verifiesPeer == true)
    }

    @Test(arguments: [
        "", "http://u:hunter2@h", "amqp://", "amqp://u:hunter2@", "amqp://u:hunter2@h:0", "amqp://u:hunter2@h:port",
        "amqp://u:hunter2@h:70000", "amqp://u:hunter2%@h", "amqp://u:hunter2%zz@h", "amqp://u:hunter2@h?heartbeat=x",
        "amqp://u:hunter2@h?verify=maybe", "amqp://u:hunter2@h?surprise=1", "amqp://u:hunter2%00@h", "amqp://u:%ff@h",
        "amqp://u:hunter2@h one", "amqp://u:123?hunter2=@h/",
    ])
    func `What cannot be used is refused without showing the password`(_ url: String) {
        do {
            _ = try AMQPConfiguration(url: url, connectionName: "test")
            Issue.record("\(url) was taken")
        } catch {
            #expect(!error.message.isEmpty)
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    @Test func `A description never shows the password`() throws {
        let configuration = try AMQPConfiguration(url: "amqp://u:hunter2@h/v", connectionName: "test")
        #expect(!"\(configuration)".contains("hunter2"))
        #expect("\(configuration)".contains("h:5672"))
    }
}
