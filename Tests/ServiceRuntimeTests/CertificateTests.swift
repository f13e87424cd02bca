import Foundation
import Hummingbird
import Logging
import ServiceConfiguration
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("Certificates that change", .serialized)
struct CertificateTests {
    /// A pair for a name, put where `files` says, one file after the other.
    private func place(
        _ name: String, _ files: HTTPConfiguration.TLS, only file: KeyPath<HTTPConfiguration.TLS, String>? = nil
    )
        async throws -> HTTPConfiguration.TLS
    {
        let folder = URL(filePath: files.certificateFile).deletingLastPathComponent()
        let made = HTTPConfiguration.TLS(
            certificateFile: folder.appending(path: "\(name).pem").path,
            privateKeyFile: folder.appending(path: "\(name)-key.pem").path)
        if !FileManager.default.fileExists(atPath: made.certificateFile) {
            _ = try await Curl.openssl(
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj", "/CN=\(name)", "-keyout", made.privateKeyFile, "-out", made.certificateFile)
        }
        for path in [\HTTPConfiguration.TLS.certificateFile, \.privateKeyFile] where file == nil || file == path {
            try Data(contentsOf: URL(filePath: made[keyPath: path]))
                .write(to: URL(filePath: files[keyPath: path]), options: .atomic)
        }
        return made
    }

    @Test func `A changed pair is served and half a pair is not`() async throws {
        try await withCertificate { files in
            let time = Mutex(ContinuousClock.now)
            let sink = LineSink()
            let store = try CertificateStore(files, logger: sink.logger(level: .info), now: { time.withLock { $0 } })
            let (first, expiry) = (store.current.generation, store.expiry)
            _ = try await place("other", files, only: \.certificateFile)
            time.withLock { $0 += .seconds(1) }
            #expect(store.current.generation == first)
            #expect(throws: ConfigurationError.self) { try store.reload() }
            time.withLock { $0 += .seconds(1) }
            #expect(store.current.generation == first)
            #expect(store.expiry == expiry)
            // Told once, not at every look.
            #expect(sink.lines.count { $0.contains("cannot be used") } == 1)
            _ = try await place("other", files, only: \.privateKeyFile)
            // Not before a second has passed.
            #expect(store.current.generation == first)
            time.withLock { $0 += .seconds(1) }
            #expect(store.current.generation != first)
            #expect(store.expiry > expiry + 20 * 86_400)
        }
    }

    /// A key as `openssl ecparam -genkey` writes it, and with a password.
    @Test func `Keys of other programs are read, and an encrypted one is named`() async throws {
        try await withCertificate { files in
            let folder = URL(filePath: files.certificateFile).deletingLastPathComponent()
            var other = files
            other.privateKeyFile = folder.appending(path: "sec1.pem").path
            other.certificateFile = folder.appending(path: "sec1-certificate.pem").path
            _ = try await Curl.openssl("ecparam", "-name", "prime256v1", "-genkey", "-out", other.privateKeyFile)
            _ = try await Curl.openssl(
                "req", "-x509", "-days", "2", "-subj", "/CN=other", "-key", other.privateKeyFile, "-out",
                other.certificateFile)
            #expect(try other.load().expiry > 0)
            let plain = other.privateKeyFile
            other.privateKeyFile = folder.appending(path: "encrypted.pem").path
            for kind in ["pkey", "ec"] {
                _ = try await Curl.openssl(
                    kind, "-in", plain, "-aes256", "-passout", "pass:x", "-out", other.privateKeyFile)
                let error = #expect(throws: ConfigurationError.self) { try other.load() }
                #expect(error?.issues.map(\.key) == ["TLS_PRIVATE_KEY_FILE"])
                #expect("\(error.map(String.init(describing:)) ?? "")".contains("is encrypted: decrypt it"))
            }
        }
    }

    /// A FIFO without a writer stands for a file system that does not answer: opening it blocks.
    @Test func `A reload does not wait for a file system that does not answer`() async throws {
        try await withCertificate { files in
            let store = try CertificateStore(files, logger: LineSink().logger(level: .info))
            store.watch()
            try await store.reloadInBackground()
            let generation = store.current.generation
            #expect(generation == 1)
            // It keeps a name when the file is back.
            let (fifo, second) = (files.certificateFile + ".fifo", files.certificateFile + ".link")
            #expect(mkfifo(fifo, 0o600) == 0 && link(fifo, second) == 0 && rename(second, files.certificateFile) == 0)
            await #expect(throws: ConfigurationError.self) {
                try await store.reloadInBackground(within: .milliseconds(200))
            }
            #expect(store.current.generation == generation)
            _ = try await place("renewed", files)
            try await expectEventually {
                // Lets the thread go on that opens it.
                let descriptor = open(fifo, O_WRONLY | O_NONBLOCK)
                if descriptor >= 0 { close(descriptor) }
                return store.current.generation > generation
            }
        }
    }

    @Test func `New connections get the new certificate`() async throws {
        try await withCertificate { files in
            let context = ServiceContext.test()
            let router = makeRouter(of: BasicRequestContext.self, context: context)
            router.addOperations(readiness: [], context: context)
            try await withHTTPService(router, HTTPConfiguration(port: 0, tls: files), context) { bound, _ in
                #expect(context.metrics.exposition().contains(#/securepush_certificate_expiry_seconds 1[0-9]{5}\n/#))
                _ = try await place("renewed", files)
                await context.reload()
                let url = try #require(URL(string: "https://127.0.0.1:\(bound)/livez"))
                for version in ["--http1.1", "--http2"] {
                    let answer = try await Curl.get(url, version, "-w", "%{certs}")
                    #expect(answer.contains("renewed"), "\(answer)")
                    #expect(answer.contains("alive"))
                }
                #expect(context.metrics.exposition().contains(#/securepush_certificate_expiry_seconds 25[0-9]{5}\n/#))
            }
        }
    }
}
