import Foundation
import Hummingbird
import Logging
import OutgoingHTTP
import ServiceLifecycle
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import ServiceConfiguration
@testable import ServiceRuntime

@Suite("The HTTP service", .serialized)
struct HTTPServiceTests {
    private func withServer(
        tls: HTTPConfiguration.TLS? = nil, routes: (Router<BasicRequestContext>) -> Void = { _ in },
        _ body: (Int, ServiceGroup) async throws -> Void
    ) async throws {
        let context = ServiceContext.test()
        let router = makeRouter(of: BasicRequestContext.self, context: context)
        router.addOperations(readiness: [], context: context)
        routes(router)
        try await withHTTPService(router, HTTPConfiguration(port: 0, tls: tls), context, body)
    }

    @Test func `A live server is healthy`() async throws {
        try await withServer { port, _ in
            #expect(port > 0)
            #expect(await HealthProbe(host: "127.0.0.1", port: port, usesTLS: false).run() == nil)
            #expect(await HealthProbe(host: "0.0.0.0", port: port, usesTLS: false).run() == nil)
        }
    }

    @Test func `Health is asked for over TLS`() async throws {
        try await withCertificate { tls in
            try await withServer(tls: tls) { port, _ in
                #expect(await HealthProbe(host: "127.0.0.1", port: port, usesTLS: true).run() == nil)
                #expect(await HealthProbe(host: "127.0.0.1", port: port, usesTLS: false).run() != nil)
            }
        }
    }

    /// What our server serves with, our own clients take.
    @Test(arguments: [
        ["ed25519"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-521"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
        ["rsa:2048"],
    ])
    func `Our clients take each kind of certificate`(_ key: [String]) async throws {
        try await withCertificate(key: key) { tls in
            try await withServer(tls: tls) { port, _ in
                #expect(await HealthProbe(host: "127.0.0.1", port: port, usesTLS: true).run() == nil)
                let client = try await RawHTTP2(port: port, trusting: TrustedAuthorities(file: tls.certificateFile))
                try await expectEventually { !client.frames.isEmpty }
            }
        }
    }

    @Test func `Where nobody listens the probe says so`() async throws {
        let port = try await unusedPort()
        let problem = await HealthProbe(host: "127.0.0.1", port: port, usesTLS: false).run()
        #expect(problem == "no answer from 127.0.0.1:\(port) within 2 s")
    }

    @Test func `Drain finishes the request in flight`() async throws {
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        try await withServer(routes: { router in
            router.get("/slow") { _, _ in
                enter.yield()
                for await _ in released { break }
                return "finished"
            }
        }) { port, group in
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/slow"))
            async let answer = Curl.get(url)
            for await _ in entered { break }
            await group.triggerGracefulShutdown()
            let refused = try await eventually {
                await HealthProbe(host: "127.0.0.1", port: port, usesTLS: false).run() != nil
            }
            #expect(refused)
            release.yield()
            #expect(try await answer.contains("finished"))
        }
    }

    /// As a batch does whose sender goes on: nginx, for one, gives up an answer whose stream is reset with CANCEL.
    @Test(.timeLimit(.minutes(2))) func `An HTTP2 answer that ends during the drain is whole, and no error follows it`()
        async throws
    {
        try await withCertificate { tls in
            try await withServer(
                tls: tls,
                routes: { router in
                    router.post("/lines") { _, _ in
                        Response(
                            status: .ok,
                            body: ResponseBody { writer in
                                try await writer.write(ByteBuffer(string: "first\n"))
                                try? await gracefulShutdown()
                                // A batch goes on for 5 s.
                                try await Task.sleep(for: .milliseconds(5500))
                                try await writer.write(ByteBuffer(string: "last\n"))
                                try await writer.finish(nil)
                            })
                    }
                }
            ) { port, group in
                let client = try await RawHTTP2(port: port)
                client.request("POST", "/lines", stream: 1, isComplete: false)
                try await expectEventually { client.body(of: 1) == "first\n" }
                await group.triggerGracefulShutdown()
                try await expectEventually { client.frames.contains { $0.type == 6 } }
                // The answer to PING, after which the server knows that no stream follows.
                let ping = try #require(client.frames.first { $0.type == 6 }).payload
                client.send(RawHTTP2.frame(6, flags: 1, payload: ping))
                try await expectEventually { client.isClosed }
                #expect(client.body(of: 1) == "first\nlast\n")
                // END_STREAM, and then RST_STREAM with NO_ERROR.
                let ends = client.frames.filter { $0.stream == 1 && ($0.type == 3 || ($0.type == 0 && $0.flags == 1)) }
                #expect(ends.map { $0.type } == [0, 3] && ends.last?.payload == [0, 0, 0, 0])
            }
        }
    }

    @Test func `An answer names no server`() async throws {
        try await withServer { port, _ in
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/livez"))
            let answer = try await Curl.get(url).lowercased()
            #expect(!answer.contains("\nserver:"))
            #expect(answer.contains("x-request-id:"))
        }
    }

    @Test func `A port in use is told`() async throws {
        try await withServer { port, _ in
            let context = ServiceContext.test()
            let service = try makeHTTPService(
                router: makeRouter(of: BasicRequestContext.self, context: context),
                configuration: HTTPConfiguration(port: port), context: context)
            let error = await #expect(throws: HTTPListenError.self) { try await service.run() }
            #expect(error?.description == "cannot listen on 127.0.0.1:\(port): the address is in use")
        }
    }

    @Test func `An unusable certificate is refused by its setting`() async throws {
        try await withTemporaryFolderURL { folder in
            let file = folder.appending(path: "no.pem").path
            try "nothing".write(toFile: file, atomically: true, encoding: .utf8)
            let context = ServiceContext.test()
            let configuration = HTTPConfiguration(port: 0, tls: .init(certificateFile: file, privateKeyFile: file))
            let error = #expect(throws: ConfigurationError.self) {
                _ = try makeHTTPService(
                    router: makeRouter(of: BasicRequestContext.self, context: context), configuration: configuration,
                    context: context)
            }
            #expect(error?.description == "TLS_CERTIFICATE_FILE: names a file that holds no PEM certificate")
        }
    }

    /// A port that was free a moment ago.
    private func unusedPort() async throws -> Int {
        let port = Mutex(0)
        try await withServer { bound, _ in port.withLock { $0 = bound } }
        return port.withLock { $0 }
    }
}
