import Domain
import Foundation
import Foundations
import Logging
import ServiceConfiguration
import Testing

@testable import NotificationHubs

@Suite struct HubPoolConfigurationTests {
    private static let key = "c2VjcmV0LWtleQ=="

    private static func connection(_ host: String = "ns.servicebus.windows.net") -> String {
        "Endpoint=sb://\(host)/;SharedAccessKeyName=Rule;SharedAccessKey=\(key)"
    }

    private func error(_ text: String) throws -> String {
        let error = #expect(throws: SetupError.self) { try HubPoolConfiguration(text) }
        let message = try #require(error).message
        #expect(!message.contains(Self.key) && !message.contains("secret"))
        #expect(error?.code == .pool)
        return message
    }

    @Test func `A line is a name and a connection string`() throws {
        let text = """
            # The hubs of Europe.

            hub-a \(Self.connection())\r
            \tHub-B\t\t\(Self.connection("other.servicebus.windows.net:444"))  \r
              # hub-c
            """
        let pool = try HubPoolConfiguration(text)
        #expect(pool.hubs.map(\.hubName) == ["hub-a", "Hub-B"])
        #expect(pool.hubs.map(\.endpoint.port) == [443, 444])
        #expect(pool.hubs[0].keyName == "Rule")
    }

    /// Some editors write one. It is not white space, and was a part of the first hub's name.
    @Test func `A byte order mark is no part of a name`() throws {
        let lines = "hub-a \(Self.connection())\nhub-b \(Self.connection())"
        #expect(try HubPoolConfiguration("\u{FEFF}" + lines).hubs.map(\.hubName) == ["hub-a", "hub-b"])
        let comment = "\u{FEFF}# The hubs.\r\n" + lines
        #expect(try HubPoolConfiguration(comment).hubs.map(\.hubName) == ["hub-a", "hub-b"])
        // Only one, and only at the beginning.
        let rule = NotificationHubConfiguration.hubNameRule
        #expect(try error("\u{FEFF}\u{FEFF}" + lines) == "Line 1: \(rule)")
        #expect(try error(lines + "\n\u{FEFF}hub-c \(Self.connection())") == "Line 3: \(rule)")
    }

    @Test(arguments: ["hüb", "-hub", ".hub", "hub%20a", "hub:a", "hub\u{200B}", "_"])
    func `A name that Azure does not allow is refused`(_ name: String) throws {
        let text = "hub-a \(Self.connection())\n\(name) \(Self.connection())"
        #expect(try error(text) == "Line 2: \(NotificationHubConfiguration.hubNameRule)")
    }

    @Test func `A file without a hub is refused`() throws {
        for text in ["", "\n\n", "# hub-a", " \r\n", "\u{FEFF}"] {
            #expect(try error(text) == "The file names no hub.")
        }
    }

    @Test func `Each mistake has its line`() throws {
        let text = """
            hub-a \(Self.connection())
            hub-b
            \(Self.connection())
            # a comment
            HUB-A \(Self.connection("x.example.com"))
            hub-c Endpoint=http://example.com/;SharedAccessKeyName=Rule;SharedAccessKey=\(Self.key)
            hub-d SharedAccessKeyName=Rule;SharedAccessKey=\(Self.key)
            hub-e \(Self.connection()) secret
            \(String(repeating: "n", count: 261)) \(Self.connection())
            hub-f \(Self.connection());secret=\(Self.key)
            """
        let message = try error(text)
        for (line, part) in [
            (2, "no connection string"), (3, "no name"), (5, "of line 1 again"), (6, "http://"), (7, "no Endpoint"),
            (9, "at most 260"), (10, "unknown part"),
        ] {
            let found = message.components(separatedBy: "Line ").first { $0.hasPrefix("\(line): ") }
            #expect(found?.contains(part) == true, "\(line): \(message)")
        }
        #expect(!message.contains("Line 1:") && !message.contains("Line 4:"))
    }

    @Test func `The bounds hold`() throws {
        func lines(_ count: Int) -> String {
            (0..<count).map { "hub-\($0) \(Self.connection())" }.joined(separator: "\n")
        }
        #expect(try HubPoolConfiguration(lines(64)).hubs.count == 64)
        #expect(try error(lines(65)) == "The file has more than 64 hubs.")
        #expect(try error("hub-a " + String(repeating: "x", count: 4096)).contains("longer than 4096 bytes"))
        #expect(try error(String(repeating: "#\n", count: 200_000)).contains("larger than 256 KiB"))
        // Not a message of a megabyte.
        #expect(try error(String(repeating: "x\n", count: 1000)).contains("980 more."))
    }

    private func withFile(_ text: String, _ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "hubs-\(UUID().uuidString)").path
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    @Test func `The file takes the place of one hub`() async throws {
        try await withFile("hub-a \(Self.connection())\nhub-b \(Self.connection())") { path in
            var reader = ConfigurationReader(environment: ["HUB_POOL_FILE": path])
            let settings = try #require(HubSettings.read(&reader))
            #expect(settings.hubs.map(\.hubName) == ["hub-a", "hub-b"] && reader.issues.isEmpty)
            for (name, value) in [
                ("HUB_NAME", "hub"), ("HUB_CONNECTION_STRING", Self.connection()), ("HUB_CONNECTION_STRING_FILE", path),
            ] {
                var reader = ConfigurationReader(environment: ["HUB_POOL_FILE": path, name: value])
                _ = HubSettings.read(&reader)
                #expect(
                    reader.issues.map(\.description) == [
                        "HUB_POOL_FILE: is set, and \(name) too: set either the file of several hubs or one hub"
                    ])
            }
        }
        try await withFile("hub-a\nhub-b") { path in
            var reader = ConfigurationReader(environment: ["HUB_POOL_FILE": path])
            #expect(HubSettings.read(&reader) == nil)
            #expect(reader.issues.count == 1 && reader.issues[0].problem.contains("Line 2: "))
        }
        try await withFile("hub-a") { path in
            let error = #expect(throws: FileError.self) { try HubPoolSettings(path: path) }
            #expect(error?.code == .malformed && error?.path == path)
            #expect(error?.message.hasPrefix("Line 1: ") == true)
        }
        var reader = ConfigurationReader(environment: ["HUB_POOL_FILE": "/nowhere/hubs"])
        #expect(HubSettings.read(&reader) == nil && reader.issues.count == 1)
    }

    @Test func `A changed file keeps the clients of the lines that stay`() async throws {
        let before = "hub-a \(Self.connection())\nhub-b \(Self.connection())\n"
        try await withFile(before) { path in
            let file = try HubPoolFile(HubPoolSettings(path: path), logger: Logger(label: "test"))
            let pool = HubSenderPool(file: file, concurrency: 4, logger: Logger(label: "test"))
            let first = pool.table
            #expect(pool.table === first)
            func write(_ text: String) throws {
                try Data(text.utf8).write(to: URL(filePath: path))
            }
            // What cannot be used changes nothing, and readiness tells.
            try write("hub-a")
            await #expect(throws: FileError.self) { try await pool.source.reload() }
            #expect(pool.table === first)
            #expect(pool.source.problem()?.contains("Line 1: ") == true)
            // Another key for hub-b, and a third hub.
            let other = Self.connection().replacing("Rule", with: "Other")
            try write("hub-c \(Self.connection())\nhub-b \(other)\nhub-a \(Self.connection())\n")
            try await pool.source.reload()
            #expect(pool.source.problem() == nil)
            let second = pool.table
            #expect(second !== first && second.members.map(\.name) == ["hub-a", "hub-b", "hub-c"])
            #expect(second.member(named: "hub-a") === first.member(named: "hub-a"))
            #expect(second.member(named: "hub-b") !== first.member(named: "hub-b"))
            #expect(pool.table === second)
        }
    }
}
