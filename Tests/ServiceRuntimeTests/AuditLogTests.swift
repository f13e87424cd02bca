import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import ServiceConfiguration
import Synchronization
import TestSupport
import Testing

@testable import Domain
@testable import Foundations
@testable import ServiceRuntime

/// The lines that requests write, and requests while the log cannot be written.
@Suite("Audit log") struct AuditLogTests {
    private func lines(_ path: String) throws -> [String] {
        try FileContent(path: path).text.split(separator: "\n").map(String.init)
    }

    private static var secret: Response {
        Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "the secret")))
    }

    /// A service with a route of each kind.
    private func withService(
        _ body: @escaping @Sendable (any TestClientProtocol, AuditLog, _ path: String, Calls) async throws -> Void
    ) async throws {
        try await withTemporaryFolderURL { folder in
            let path = folder.appending(path: "audit.log").path
            let context = try ServiceContext.test().auditing(to: path)
            let audit = try #require(context.audit)
            let handled = Calls()
            let routes = Routes<BasicRequestContext>([
                Route(
                    .get, "/things/:id", "read",
                    { _, context in
                        handled.count.add(1, ordering: .relaxed)
                        AuditTrail.current?.note(actor: "alice")
                        guard context.parameters.get("id") == "known" else { throw Problem.notFound("none") }
                        return Self.secret
                    }),
                Route(.get, "/api/notifications/:id", "read", { _, _ in Self.secret }),
                Route(
                    .get, "/things", .refusals(of: "list"),
                    { _, _ in
                        AuditTrail.current?.note(actor: "alice")
                        AuditTrail.current?.note(read: ["1", "2"])
                        return Self.secret
                    }),
                Route(
                    .post, "/things", .refusals(of: "send"),
                    { request, _ in
                        if request.headers[.authorization] == nil {
                            throw AuthenticationError(.missing, "Credentials are required.", challenges: ["Bearer"])
                        }
                        return Response(status: .created)
                    }),
            ])
            let router = makeRouter(routes, context: context)
            router.addOperations(readiness: [context.watch([])], context: context)
            let application = try makeHTTPApplication(
                router: router, configuration: HTTPConfiguration(port: 0), context: context)
            try await application.test(.router) { try await body($0, audit, path, handled) }
        }
    }

    @Test func `With a log, a route of which each request gets a line has no direct form`() async throws {
        try await withTemporaryFolderURL { folder in
            let plain = ServiceContext.test()
            let audited = try ServiceContext.test().auditing(to: folder.appending(path: "audit.log").path)
            let routes = { (action: AuditedAction?) in
                Routes<BasicRequestContext>([
                    Route(.get, "/things/:id", action, { _, _ in Self.secret }, direct: { _, _ in false })
                ])
            }
            #expect(routes("read").direct(plain) != nil)
            #expect(routes("read").direct(audited) == nil)
            #expect(routes(.refusals(of: "send")).direct(audited) != nil)
            #expect(routes(nil).direct(audited) != nil)
        }
    }

    @Test func `A read, a refusal and each payload of a list get a line, and nothing else does`() async throws {
        try await withService { client, _, path, _ in
            _ = try await client.execute(uri: "/things/known", method: .get)
            _ = try await client.execute(uri: "/things/other", method: .get)
            _ = try await client.execute(uri: "/things/known", method: .head)
            _ = try await client.execute(uri: "/things", method: .get)
            _ = try await client.execute(uri: "/things", method: .post, headers: [.authorization: "x"])
            _ = try await client.execute(uri: "/things", method: .post, headers: [.init("x-request-id")!: "r7"])
            _ = try await client.execute(uri: "/nothing", method: .get)
            _ = try await client.execute(uri: "/livez", method: .get)
            let lines = try lines(path).map { try #require(JSONValue(text: $0)) }
            let texts = lines.map { line in
                ["actor", "action", "id", "result"].map { line[$0]?.text ?? "null" }.joined(separator: " ")
            }
            #expect(
                texts == [
                    "null service.start \(SecurePushVersion.current) ok", "alice read known ok",
                    "alice read other refused", "alice read.head known ok", "alice read 1 ok", "alice read 2 ok",
                    "null send null refused",
                ])
            #expect(lines.last?["request"]?.text == "r7")
            #expect(try !FileContent(path: path).text.contains("secret"))
        }
    }

    @Test func `The ID of a notification is written as answers have it`() async throws {
        try await withService { client, _, path, _ in
            let id = NotificationID().description
            for text in [id, id.uppercased(), "NoID"] {
                _ = try await client.execute(uri: "/api/notifications/\(text)", method: .get)
            }
            // Other IDs are not notifications'.
            _ = try await client.execute(uri: "/things/\(id.uppercased())", method: .get)
            let ids = try lines(path).dropFirst().map { JSONValue(text: $0)?["id"]?.text }
            #expect(ids == [id, id, "NoID", id.uppercased()])
        }
    }

    @Test func `While the log cannot be written, nothing is read and nothing is lost`() async throws {
        try await withService { client, audit, path, handled in
            _ = try await client.execute(uri: "/things/known", method: .get)
            try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            // The request at whose end the fault is found is answered: its line waits.
            let first = try await client.execute(uri: "/things/known", method: .get)
            #expect(first.status == .ok)
            #expect(handled.count.load(ordering: .relaxed) == 2)
            let second = try await client.execute(uri: "/things/known", method: .get)
            #expect(second.status == .serviceUnavailable)
            #expect(second.headers[.retryAfter] != nil)
            #expect(handled.count.load(ordering: .relaxed) == 2, "The handler has run.")
            let refused = try await client.execute(uri: "/things", method: .post)
            #expect(refused.status == .serviceUnavailable)
            let sent = try await client.execute(uri: "/things", method: .post, headers: [.authorization: "x"])
            #expect(sent.status == .created)
            let ready = try await client.execute(uri: "/readyz", method: .get)
            #expect(String(buffer: ready.body).contains("AUDIT_LOG"))

            try FileManager.default.removeItem(atPath: path)
            #expect(await audit.isWritable())
            let third = try await client.execute(uri: "/things/known", method: .get)
            #expect(third.status == .ok)
            let old = try lines(path + ".1"), new = try lines(path)
            #expect(old.count == 2 && new.count == 2)
            var verifier = AuditVerifier()
            for line in old + new { verifier.check(Array(line.utf8), at: "line") }
            #expect(verifier.report.fault == nil)
        }
    }

    /// A pipe that nobody reads stands for a disk that hangs.
    private func hangingLog(patience: Duration) throws -> (AuditLog, Pipe) {
        let pipe = Pipe()
        let writer = pipe.fileHandleForWriting.fileDescriptor
        let audit = try AuditLog(
            file: AuditFile(path: "-", stream: writer), service: "test", logger: Logger(label: "test"),
            patience: patience)
        // Fills the pipe, so that the next write waits for the reader.
        let flags = fcntl(writer, F_GETFL)
        _ = fcntl(writer, F_SETFL, flags | O_NONBLOCK)
        let rest = [UInt8](repeating: UInt8(ascii: "-"), count: 4096)
        while write(writer, rest, rest.count) > 0 {}
        _ = fcntl(writer, F_SETFL, flags)
        return (audit, pipe)
    }

    private static func record(_ audit: AuditLog, id: String) async throws {
        try await audit.record([AuditEntry(service: "test", action: "read", id: id)])
    }

    @Test(.timeLimit(.minutes(5))) func `A write that hangs refuses requests, holds none, and loses nothing`()
        async throws
    {
        let (audit, pipe) = try hangingLog(patience: .milliseconds(250))
        // Those that wait when it begins to hang are answered, and so is one that comes too late for the check.
        let waiting = (1...3).map { number in Task { try await Self.record(audit, id: "\(number)") } }
        for task in waiting {
            let refusal = await #expect(throws: Problem.self) { try await task.value }
            #expect(refusal?.status == .serviceUnavailable)
        }
        #expect(audit.problem?.contains("has taken no lines") == true)
        #expect(await !audit.isWritable())
        await #expect(throws: Problem.self) { try await audit.check() }
        await #expect(throws: Problem.self) { try await Self.record(audit, id: "4") }

        // The reader comes back.
        try await expectLines(["1", "2", "3", "4"], in: pipe)
        try await expectEventually { await audit.isWritable() }
    }

    /// Reads a pipe until it has had these lines.
    private func expectLines(_ ids: [String], in pipe: Pipe) async throws {
        let text = Mutex("")
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let part = String(decoding: handle.availableData, as: UTF8.self)
            text.withLock { $0 += part }
        }
        try await expectEventually {
            text.withLock { text in ids.allSatisfy { text.contains(#""action":"read","id":"\#($0)""#) } }
        }
        pipe.fileHandleForReading.readabilityHandler = nil
    }

    @Test func `A request that ends does not wait for a write that hangs`() async throws {
        let (audit, pipe) = try hangingLog(patience: .seconds(3600))
        let waiting = Task { try await Self.record(audit, id: "1") }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        try await expectLines(["1"], in: pipe)
    }

    @Test func `Many requests at once get a line each`() async throws {
        try await withService { client, _, path, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<300 {
                    group.addTask { _ = try await client.execute(uri: "/things/known", method: .get) }
                }
                try await group.waitForAll()
            }
            let lines = try lines(path)
            #expect(lines.count == 301)
            var verifier = AuditVerifier()
            for line in lines { verifier.check(Array(line.utf8), at: "line") }
            #expect(verifier.report.fault == nil)
        }
    }

    @Test func `A log that cannot be opened is a mistake in the settings`() {
        let error = #expect(throws: ConfigurationError.self) {
            try ServiceContext.test().auditing(to: "/nowhere/audit.log")
        }
        #expect(error?.issues.first?.key == "AUDIT_LOG")
    }

    /// Counts the calls of a handler.
    private final class Calls: Sendable { let count = Atomic(0) }
}
