import Foundation
import ServiceConfiguration
import ServiceRuntime
import Testing

@testable import Operator

@Suite("The settings of the operator's page")
struct OperatorConfigurationTests {
    private func read(_ settings: [String: String], tls: Bool = false) -> (OperatorConfiguration?, [String]) {
        var reader = ConfigurationReader(environment: settings)
        let certificate = HTTPConfiguration.TLS(certificateFile: "/c", privateKeyFile: "/k")
        let api = HTTPConfiguration(port: 8080, tls: tls ? certificate : nil)
        let admin = OperatorConfiguration(AdminSettings(&reader), &reader, api: api)
        return (admin, reader.issues.map(\.key))
    }

    @Test func `The page is off without a port`() {
        let (admin, issues) = read([:])
        #expect(admin == nil && issues.isEmpty)
    }

    @Test func `On loopback the page needs nothing else`() throws {
        for host in ["127.0.0.1", "localhost", "::1"] {
            let (admin, issues) = read(["ADMIN_PORT": "8083", "ADMIN_HOST": host])
            #expect(issues.isEmpty)
            #expect(try #require(admin).http.port == 8083)
        }
    }

    @Test func `Beyond loopback the page needs a password and TLS`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "admin-\(UUID().uuidString)").path
        try Data("secret".utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let open = ["ADMIN_PORT": "8083", "ADMIN_HOST": "0.0.0.0"]
        #expect(read(open).1 == ["ADMIN_PASSWORD_FILE", "ADMIN_HOST"])
        #expect(read(open, tls: true).1 == ["ADMIN_PASSWORD_FILE"])
        let closed = open.merging(["ADMIN_PASSWORD_FILE": file]) { $1 }
        #expect(read(closed).1 == ["ADMIN_HOST"])
        #expect(read(closed, tls: true).1.isEmpty)
        #expect(read(closed.merging(["ALLOW_INSECURE": "http"]) { $1 }).1.isEmpty)
    }

    @Test func `Mistakes are named`() {
        #expect(read(["ADMIN_PORT": "8080"]).1 == ["ADMIN_PORT"])
        #expect(read(["ADMIN_PORT": "x"]).1 == ["ADMIN_PORT"])
        #expect(read(["ADMIN_PORT": "1", "ADMIN_ALLOWED_HOSTS": "*.test"]).1 == ["ADMIN_ALLOWED_HOSTS"])
        #expect(read(["ADMIN_PORT": "1", "ADMIN_PASSWORD_FILE": "/nothing"]).1 == ["ADMIN_PASSWORD_FILE"])
        for bad in ["x", "ftp://a", "http://", "http://u:p@h:1", "http://h/metrics", "http://h:0", "http://h:99999"] {
            #expect(read(["ADMIN_PORT": "1", "DISPATCHER_URL": bad]).1 == ["DISPATCHER_URL"], "\(bad)")
        }
    }

    @Test(arguments: [
        ("http://dispatcher:8082", "http://dispatcher:8082"), ("https://d.example/", "https://d.example:443"),
        ("http://[::1]:82", "http://[::1]:82"), ("HTTP://h", "http://h:80"),
    ])
    func `Targets are URLs`(text: String, expected: String) {
        #expect(MetricsTarget(text)?.text == expected)
    }
}
