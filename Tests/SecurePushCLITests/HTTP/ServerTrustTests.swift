import Foundation
import StackKit
import TestSupport
import Testing

@testable import SecurePushCLI

/// What the command line says of services whose TLS it cannot trust, and what makes it trust them.
@Suite(.timeLimit(.minutes(3))) struct ServerTrustTests {
    private static func certificate(
        in folder: String, _ name: String = "server", hosts: [String] = ["localhost", "127.0.0.1"], made: Date = Date()
    ) throws -> LocalCertificate {
        let certificate = LocalCertificate(
            rootFile: "\(folder)/\(name)-ca.pem", certificateFile: "\(folder)/\(name).pem",
            keyFile: "\(folder)/\(name)-key.pem", hosts: hosts)
        _ = try certificate.make(now: made)
        return certificate
    }

    @Test func `--ca-file, SSL_CERT_FILE and SSL_CERT_DIR make an authority trusted`() async throws {
        try await withTemporaryFolder { folder in
            let certificate = try Self.certificate(in: folder)
            try await LocalServices.with(certificate: certificate) { services in
                #expect(services.environment["INGEST_URL"]?.hasPrefix("https://") == true)
                let unknown = try await services.run("list")
                #expect(
                    unknown.code == 69 && unknown.errors.contains("authority that is not trusted"), "\(unknown.errors)")
                #expect(unknown.errors.contains("--ca-file"))
                let ca = certificate.rootFile
                let sent = try await services.run("send", "--to", "alice", "--payload", "x", "--ca-file", ca)
                #expect(sent.code == 0, "\(sent.errors)")
                #expect(try await services.run("list", with: ["SSL_CERT_FILE": ca]).code == 0)
                let authorities = "\(folder)/authorities"
                try FileManager.default.createDirectory(atPath: authorities, withIntermediateDirectories: true)
                try FileManager.default.copyItem(atPath: ca, toPath: "\(authorities)/ca.pem")
                let inFolder = try await services.run("list", with: ["SSL_CERT_DIR": authorities])
                #expect(inFolder.code == 0, "\(inFolder.errors)")
                let password = services.setup.passwordFile(of: "alice")
                for arguments in [
                    ["inbox", "--user", "alice", "--password-file", password],
                    ["token", "--user", "alice", "--password-file", password], ["top", "--once", "--json"],
                    ["read", sent.lines.first ?? "", "--user", "alice", "--password-file", password],
                    ["load-test", "--count", "2", "--no-wait"],
                    ["status", sent.lines.first ?? ""], ["revoke", sent.lines.first ?? ""],
                ] {
                    let run = try await CommandLineRun(
                        arguments + ["--ca-file", ca], services.environment, in: services.folder)
                    #expect(!run.errors.contains("not trusted"), "\(arguments): \(run.errors)")
                    #expect(arguments[0] == "top" || run.code == 0, "\(arguments): \(run.errors)")
                }
            }
        }
    }

    @Test func `Each fault of TLS has its own words`() async throws {
        try await withTemporaryFolder { folder in
            let expired = try Self.certificate(in: folder, "expired", made: Date() - 400 * 86_400)
            let future = try Self.certificate(in: folder, "future", made: Date() + 10 * 86_400)
            let other = try Self.certificate(in: folder, "other", hosts: ["push.example.com"])
            let good = try Self.certificate(in: folder, "good")
            let cases: [(LocalCertificate, flags: [String], words: String, hint: String)] = [
                (expired, [], "its certificate has expired on 20", "clock"),
                (future, [], "is not valid before 20", "clock"),
                (other, [], "is not for the host name 127.0.0.1", "push.example.com"),
                (good, ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], "no version of TLS that is safe", "TLS 1.2"),
            ]
            for (certificate, flags, words, hint) in cases {
                let port = try freePorts(1)
                let server = try Program(
                    URL(filePath: "/usr/bin/openssl"),
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate.certificateFile, "-key"]
                        + [certificate.keyFile, "-quiet"] + flags,
                    environment: ["PATH": "/usr/bin:/bin"], output: URL(filePath: "\(folder)/server-\(port).log"),
                    folder: URL(filePath: folder))
                defer { server.send(SIGKILL) }
                var run: CommandLineRun?
                let hasSpoken = try await eventually {
                    run = try await CommandLineRun(
                        ["list", "--ca-file", certificate.rootFile],
                        ["INGEST_URL": "https://127.0.0.1:\(port)", "INGEST_API_KEY": "k"], in: folder)
                    return run?.errors.contains("nothing listens") == false
                }
                let last = try #require(run)
                #expect(hasSpoken && last.code == 69 && last.errors.contains(words), "\(last.errors)")
                #expect(last.errors.contains(hint), "\(last.errors)")
                Self.expectPlainWords(last.errors)
            }
        }
    }

    @Test func `A service without TLS, a service with TLS, and a name that nobody has`() async throws {
        try await withTemporaryFolder { folder in
            let certificate = try Self.certificate(in: folder)
            try await LocalServices.with { services in
                let url = services.environment["INGEST_URL"]?.replacing("http://", with: "https://") ?? ""
                let plain = try await services.run("list", with: ["INGEST_URL": url])
                #expect(plain.code == 69 && plain.errors.contains("does not speak TLS"), "\(plain.errors)")
                #expect(plain.errors.contains("http://"))
                Self.expectPlainWords(plain.errors)
                let nobody = try await services.run("list", with: ["INGEST_URL": "https://nobody.invalid"])
                #expect(nobody.code == 69 && nobody.errors.contains("host name nobody.invalid"), "\(nobody.errors)")
                Self.expectPlainWords(nobody.errors)
            }
            try await LocalServices.with(certificate: certificate) { services in
                let url = services.environment["INGEST_URL"]?.replacing("https://", with: "http://") ?? ""
                let run = try await services.run("list", with: ["INGEST_URL": url])
                #expect(
                    run.code == 69 && run.errors.contains("it speaks TLS") && run.errors.contains("https://"),
                    "\(run.errors)")
                Self.expectPlainWords(run.errors)
            }
        }
    }

    @Test func `The proxies of the environment are used, and named if they fail`() async throws {
        try await LocalServices.with { services in
            let port = try #require(services.environment["INGEST_URL"]?.split(separator: ":").last.flatMap { Int($0) })
            let proxy = try await ConnectProxy(to: port)
            let proxied = try await services.run(
                "list", "--ingest-url", "http://push.invalid:\(port)", "--json",
                with: ["HTTP_PROXY": "http://user:secret@127.0.0.1:\(proxy.port)"])
            #expect(proxied.code == 0 && proxied.output.contains("Notifications"), "\(proxied.errors)")
            let head = try #require(proxy.heads.first)
            #expect(head.hasPrefix("CONNECT push.invalid:\(port) "))
            #expect(head.lowercased().contains("proxy-authorization: basic dxnlcjpzzwnyzxq="))
            // The API key is for the service alone.
            #expect(!head.contains("Bearer"))
            try await proxy.stop()
            let closed = ["HTTPS_PROXY": "http://user:secret@127.0.0.1:1"]
            let failed = try await services.run("list", "--ingest-url", "https://push.invalid", with: closed)
            #expect(failed.code == 69 && failed.errors.contains("through the proxy 127.0.0.1:1"), "\(failed.errors)")
            #expect(!failed.errors.contains("secret"))
            Self.expectPlainWords(failed.errors)
            let excepted = try await services.run(
                "list", "--ingest-url", "https://push.invalid", with: closed.merging(["NO_PROXY": ".invalid"]) { $1 })
            #expect(excepted.code == 69 && excepted.errors.contains("host name push.invalid"), "\(excepted.errors)")
            // This machine is always reached without a proxy.
            #expect(try await services.run("list", with: ["HTTP_PROXY": "http://127.0.0.1:1"]).code == 0)
            let wrong = try await services.run("list", with: ["HTTPS_PROXY": "socks5://127.0.0.1:1"])
            #expect(wrong.code == 78 && wrong.errors.contains("HTTPS_PROXY"), "\(wrong.errors)")
        }
    }

    @Test func `A file of authorities that cannot be used is named`() async throws {
        try await withTemporaryFolder { folder in
            try SecretFile.create("\(folder)/no.pem", "no certificate")
            let key = ["INGEST_API_KEY": "k", "INGEST_URL": "http://127.0.0.1:1"]
            for (flags, environment, words) in [
                (["--ca-file", "/nowhere.pem"], [:], "--ca-file: "),
                (["--ca-file", "no.pem"], [:], "no certificate in PEM"),
                ([], ["SSL_CERT_FILE": "/nowhere.pem"], "SSL_CERT_FILE"),
                ([], ["SSL_CERT_DIR": "/nowhere"], "SSL_CERT_DIR"),
            ] as [([String], [String: String], String)] {
                let run = try await CommandLineRun(["list"] + flags, key.merging(environment) { $1 }, in: folder)
                #expect(run.code == 78 && run.errors.contains(words), "\(run.errors)")
            }
        }
    }

    /// No names of types, error numbers or places in somebody's source code.
    private static func expectPlainWords(_ text: String) {
        for word in ["NIO", "BoringSSL", "OPENSSL", "error:1", ".c:", "/checkouts/", "(domain", "Error:"] {
            #expect(!text.contains(word), "\(text)")
        }
    }

    @Test(
        arguments: [
            (
                "Error: 1 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at /a/b.cc:1",
                .refusedCertificate
            ),
            ("Error: 1 error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER at /a/b.cc:1", .notTLS),
            (
                "Error: 1 error:1000042e:SSL routines:OPENSSL_internal:TLSV1_ALERT_PROTOCOL_VERSION at /a/b.cc:1",
                .version
            ),
            (
                "Error: 1 error:10000410:SSL routines:OPENSSL_internal:SSLV3_ALERT_HANDSHAKE_FAILURE at /a/b.cc:1",
                .other("sslv3 alert handshake failure")
            ),
            ("Error:  EOF during handshake", .closed), ("?", .other("the handshake failed")),
        ] as [(String, TLSFault)])
    func `Faults of BoringSSL`(text: String, fault: TLSFault) {
        #expect(TLSFault(text) == fault)
    }
}
