import Foundation
import OutgoingHTTP
import ServiceConfiguration
import ServiceRuntime
import Testing

@testable import Operator

@Suite("The settings of the operator's page")
struct OperatorConfigurationTests {
    private func read(_ settings: [String: String]) -> (OperatorConfiguration?, [String]) {
        var reader = ConfigurationReader(environment: settings)
        let configuration = OperatorConfiguration(&reader)
        return (configuration, reader.issues.map(\.key))
    }

    @Test func `On loopback the page needs nothing`() throws {
        for host in ["127.0.0.1", "localhost", "::1", "[::1]"] {
            let (configuration, issues) = read(["HTTP_HOST": host])
            #expect(issues.isEmpty)
            let http = try #require(configuration).http
            #expect(http.port == 8083 && http.limits.maxInFlight == 32)
        }
        #expect(read(["HTTP_MAX_IN_FLIGHT": "99"]).0?.http.limits.maxInFlight == 99)
    }

    @Test func `Beyond loopback the page needs a password and TLS`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "admin-\(UUID().uuidString)").path
        try Data("secret".utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let open = ["HTTP_HOST": "0.0.0.0"]
        #expect(read(open).1 == ["HTTP_HOST", "ADMIN_PASSWORD_FILE"])
        let closed = open.merging(["ADMIN_PASSWORD_FILE": file]) { $1 }
        #expect(read(closed).1 == ["HTTP_HOST"])
        let tls = ["TLS_CERTIFICATE_FILE": file, "TLS_PRIVATE_KEY_FILE": file]
        #expect(read(open.merging(tls) { $1 }).1 == ["ADMIN_PASSWORD_FILE"])
        for remedy in [tls, ["ALLOW_INSECURE": "http"]] { #expect(read(closed.merging(remedy) { $1 }).1.isEmpty) }
    }

    @Test func `The authorities of the processes that are polled may be a flag`() {
        var reader = ConfigurationReader(flags: ["SSL_CERT_DIR": "/a:/b"], environment: [:])
        #expect(OperatorConfiguration(&reader)?.authorities.folders == ["/a", "/b"])
    }

    @Test func `Mistakes are named`() {
        #expect(read(["ADMIN_ALLOWED_HOSTS": "*.test"]).1 == ["ADMIN_ALLOWED_HOSTS"])
        #expect(read(["ADMIN_PASSWORD_FILE": "/nothing"]).1 == ["ADMIN_PASSWORD_FILE"])
        for bad in ["x", "ftp://a", "http://", "http://u:p@h:1", "http://h/metrics", "http://h:0", "http://h:99999"] {
            for key in ["INGEST_URL", "DISPATCHER_URL", "RETRIEVAL_URL", "HUB_URL"] {
                #expect(read([key: bad]).1 == [key], "\(bad)")
            }
        }
    }

    @Test(arguments: [
        ("http://dispatcher:8082", "http://dispatcher:8082"), ("https://d.example/", "https://d.example:443"),
        ("http://[::1]:82", "http://[::1]:82"), ("HTTP://h", "http://h:80"),
    ])
    func `Targets are URLs`(text: String, expected: String) {
        #expect(ProcessTarget(text)?.text == expected)
    }
}
