import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import ServiceConfiguration
import ServiceRuntime
import StackKit
import TestSupport
import Testing

@testable import Hub

@Suite(.timeLimit(.minutes(2))) struct HubServiceTests {
    @Test func `Both files and nothing else are required`() {
        var reader = ConfigurationReader(environment: [:])
        _ = HubServiceConfiguration(&reader)
        #expect(reader.issues.map(\.key).sorted() == ["HUB_ACCESS_FILE", "PUSH_CREDENTIALS_FILE"])
        #expect(reader.keys.contains { $0.name == "HTTP_PORT" && $0.defaultValue == "8085" })
    }

    @Test func `Rules of the hub and of every hub are valid, with their rights`() async throws {
        try await withHub { hub in
            for rule in ["root", "listener", "everywhere"] {
                try await hub.expect(.ok, .get, TestHub.listOfOne, rule: rule)
            }
            try await hub.expect(.unauthorized, .get, TestHub.listOfOne, rule: "nobody")
            let list = "/app/registrations/?api-version=2020-06"
            try await hub.expect(.ok, .get, list)
            try await hub.expect(.forbidden, .get, list, rule: "listener")
            let other = TestHub.listOfOne.replacing("/app/", with: "/other/")
            try await hub.expect(.notFound, .get, other, rule: "everywhere")
        }
    }

    @Test func `A removed rule is refused within a second, and a bad file changes nothing`() async throws {
        try await withHub { hub in
            try await hub.expect(.ok, .get, TestHub.listOfOne, rule: "listener")
            try TestHub.write("app root Manage \(TestHub.key)\n", to: hub.accessFile)
            let isRefused = try await eventually { try await hub.status(rule: "listener") == .unauthorized }
            #expect(isRefused)
            try TestHub.write("app root Fly \(TestHub.key)\n", to: hub.accessFile)
            let isTold = try await eventually { try await hub.readiness().contains("HUB_ACCESS_FILE: Line 1") }
            #expect(isTold)
            try await hub.expect(.ok, .get, TestHub.listOfOne, rule: "root")
            #expect(try await !hub.readiness().contains(TestHub.key))
            try TestHub.write("app root Manage \(TestHub.key)\n", to: hub.accessFile)
            await hub.context.reload()
            let isGood = try await eventually { try await !hub.readiness().contains("HUB_ACCESS_FILE") }
            #expect(isGood)
        }
    }

    @Test func `Changed credentials are in force within a second`() async throws {
        try await withHub { hub in
            #expect(try await hub.readiness().contains(#""simulated":{"app/apple":1,"app/fcmv1":1,"app/gcm":1}"#))
            #expect(hub.state.lanes.isSimulated("app", .apple))
            try TestHub.write("{}", to: hub.credentialsFile)
            let isInForce = try await eventually { !hub.state.lanes.isSimulated("app", .apple) }
            #expect(isInForce)
            try TestHub.write("{", to: hub.credentialsFile)
            let isTold = try await eventually {
                try await hub.readiness().contains("PUSH_CREDENTIALS_FILE: The file is not JSON")
            }
            #expect(isTold)
            try await hub.expect(.ok, .get, "/readyz", rule: nil)
        }
    }

    @Test func `The page and the devices are there while a platform is simulated`() async throws {
        try await withHub { hub in
            for path in ["/", "/emulator/devices", "/emulator/connection"] {
                let answer = try await hub.call(.get, path, rule: nil)
                #expect(answer.status == .ok, "\(path)")
                #expect(!answer.text.contains(TestHub.key))
            }
            let connection = try await hub.call(.get, "/emulator/connection", rule: nil).text
            #expect(connection.contains(#""HasKey":false"#))
            try await hub.expect(.forbidden, .post, "/emulator/connection/key", rule: nil)
        }
        try await withHub(credentials: "{}") { hub in
            try await hub.expect(.unauthorized, .get, "/", rule: nil)
            try await hub.expect(.notFound, .get, "/emulator/devices", rule: nil)
            try await hub.expect(.ok, .get, "/livez", rule: nil)
        }
    }

    @Test(arguments: [
        "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: https", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy",
        "X-Real-IP: 127.0.0.1", "Host: hub.example.org", "Host: 192.0.2.1",
    ])
    func `A request that a proxy on this machine passes on finds no page`(_ field: String) async throws {
        for host in ["127.0.0.1", "0.0.0.0"] {
            try await withHub(settings: ["HTTP_HOST": host, "ALLOW_INSECURE": "http"]) { hub in
                for path in ["/emulator/devices", "/emulator/connection", "/emulator/page/emulator.js"] {
                    let status = try await hub.status(of: path, field)
                    #expect(status == 404, "\(path)")
                }
                let status = try await hub.status(of: "/", field)
                #expect(status == 401)
            }
        }
    }

    @Test(arguments: [
        (["TRUSTED_PROXIES": "127.0.0.1,::1"], "127.0.0.1", 404), (["HUB_SIMULATION_ALLOW": "none"], "127.0.0.1", 404),
        (["HUB_SIMULATION_ALLOW": "hub.example.org"], "hub.example.org", 200), ([:], "localhost:8085", 200),
    ])
    func `Settings say whom the page answers`(_ settings: [String: String], _ host: String, _ status: Int) async throws
    {
        try await withHub(settings: settings) { hub in
            let answered = try await hub.status(of: "/emulator/devices", "Host: \(host)")
            #expect(answered == status)
        }
    }

    @Test func `The page shows nothing of the devices of other platforms`() async throws {
        try await withHub { hub in
            for (platform, handle) in [("apns", "AA11"), ("wns", "https://a.notify.windows.com/w/?token=BB22")] {
                let body = #"{"installationId":"\#(platform)","platform":"\#(platform)","pushChannel":"\#(handle)"}"#
                try await hub.expect(
                    .ok, .put, "/app/installations/\(platform)?api-version=2020-06", rule: "listener", body: body)
            }
            for path in ["/emulator/devices", "/emulator/messages"] {
                let shown = try await hub.call(.get, path, rule: nil).text
                #expect(shown.contains("AA11") && !shown.contains("BB22"), "\(path)")
            }
        }
    }

    @Test func `Hubs are those of the file, and no client makes or removes one`() async throws {
        try await withHub { hub in
            let read = try await hub.call(.get, "/app?api-version=2020-06")
            #expect(read.status == .ok && read.text.contains(">App<") && !read.text.contains(TestHub.key))
            try await hub.expect(.methodNotAllowed, .delete, "/app?api-version=2020-06")
            try await hub.expect(.methodNotAllowed, .put, "/new?api-version=2020-06", body: "<entry/>")
        }
    }

    @Test(arguments: [
        ("app r Send \(TestHub.key)", 0o644, "{}", "HUB_ACCESS_FILE", "chmod 600"),
        ("app r Fly \(TestHub.key)", 0o600, "{}", "HUB_ACCESS_FILE", "Line 1"),
        ("app r Send \(TestHub.key)", 0o400, "[", "PUSH_CREDENTIALS_FILE", "not JSON"),
    ])
    func `A file that cannot be used stops the start`(
        _ rules: String, _ mode: Int, _ credentials: String, _ key: String, _ reason: String
    ) async throws {
        let folder = temporaryPath()
        defer { removeFile(folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (access, file) = (folder + "/access", folder + "/credentials")
        try TestHub.write(rules, to: access)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: access)
        try TestHub.write(credentials, to: file)
        var reader = ConfigurationReader(
            environment: [
                "HTTP_PORT": "0", "DATABASE_URL": "memory:", "HUB_ACCESS_FILE": access, "PUSH_CREDENTIALS_FILE": file,
            ])
        let configuration = try #require(HubServiceConfiguration(&reader))
        let context = ServiceContext(
            name: "hub", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, metrics: PrometheusMetrics())
        let error = await #expect(throws: ConfigurationError.self) {
            _ = try await buildHub(configuration, context: context)
        }
        #expect(error?.issues.first?.key == key)
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.description.contains(TestHub.key) == false)
    }
}
