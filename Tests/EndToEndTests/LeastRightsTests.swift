import AMQP
import Domain
import Foundation
import Foundations
import Logging
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// Each service can do its work with the rights that `securepush setup` gives it, and nothing else.
@Suite("Least rights", .serialized, .broker, .timeLimit(.minutes(5)))
struct LeastRightsTests {
    /// A role, a statement, and whether it is allowed. What is allowed changes nothing: there are no such rows.
    static let statements: [(role: String, sql: String, isAllowed: Bool)] = {
        let nothing = "WHERE false"
        let tables = [
            "notifications", "payloads", "outbox", "registrations", "installations", "idempotency_keys",
            "follow_ups", "schema_migrations", "silent_pushes", "refresh_tokens", "outcome_watch", "device_places",
            "answers", "device_reports",
        ]
        var all: [(String, String, Bool)] = []
        for role in ["ingest", "dispatcher", "retrieval", "operator", "cli"] {
            all += tables.map { (role, "DROP TABLE \($0)", false) }
            all += tables.map { (role, "TRUNCATE \($0)", false) }
            all += [
                (role, "CREATE TABLE mine (a int)", false), (role, "CREATE ROLE mine", false),
                (role, "SET ROLE securepush_owner", false), (role, "SET ROLE postgres", false),
                (role, "COPY notifications TO PROGRAM 'true'", false),
                (role, "SELECT pg_read_file('PG_VERSION')", false),
                (role, "INSERT INTO schema_migrations (version, name) VALUES (99, 'mine')", false),
                (role, "SELECT FROM schema_migrations", true), (role, "SELECT FROM notifications", true),
            ]
        }
        all += [
            ("ingest", "DELETE FROM notifications \(nothing)", true),
            ("ingest", "UPDATE payloads SET sealed = NULL \(nothing)", true),
            ("ingest", "UPDATE notifications SET revoked_at = 1 \(nothing)", true),
            ("ingest", "UPDATE notifications SET recipient = 'x' \(nothing)", false),
            ("ingest", "UPDATE notifications SET read_at = 1 \(nothing)", false),
            ("ingest", "UPDATE notifications SET shown_at = 1 \(nothing)", false),
            ("ingest", "SELECT owner, platform FROM registrations", true),
            ("ingest", "SELECT handle FROM registrations", false),
            ("ingest", "SELECT id, encryption_key, encryption_key_at FROM installations WHERE owner = 'x'", true),
            ("ingest", "SELECT handle FROM installations", false),
            ("ingest", "SELECT document FROM installations", false),
            ("ingest", "UPDATE installations SET encryption_key = NULL \(nothing)", false),
            ("ingest", "UPDATE installations SET key_notice_at = NULL \(nothing)", true),
            ("dispatcher", "SELECT encryption_key FROM installations", false),
            ("dispatcher", "SELECT FROM device_reports", false), ("operator", "SELECT sdk FROM device_reports", true),
            ("ingest", "UPDATE device_reports SET code = NULL \(nothing)", false),
            ("retrieval", "DELETE FROM device_reports \(nothing)", false),
            ("dispatcher", "SELECT hub FROM device_places", false), ("ingest", "SELECT hub FROM device_places", false),
            ("retrieval", "DELETE FROM device_places \(nothing)", true),
            ("cli", "DELETE FROM device_places \(nothing)", true),
            ("cli", "UPDATE device_leases SET until = 1 \(nothing)", true),
            ("retrieval", "UPDATE installations SET encryption_key = NULL, owner = 'x' \(nothing)", true),
            ("dispatcher", "SELECT FROM payloads", false),
            ("dispatcher", "SELECT notification_id FROM payloads", false),
            ("dispatcher", "SELECT sealed FROM payloads", false),
            ("dispatcher", "UPDATE payloads SET sealed = NULL \(nothing)", false),
            ("dispatcher", "DELETE FROM payloads \(nothing)", false),
            ("dispatcher", "SELECT FROM idempotency_keys", false),
            ("dispatcher", "SELECT owner, platform FROM installations", true),
            ("dispatcher", "SELECT handle FROM installations", false),
            ("dispatcher", "SELECT handle FROM registrations", false),
            ("dispatcher", "UPDATE notifications SET status = 1 \(nothing)", true),
            ("dispatcher", "UPDATE notifications SET recipient = 'x' \(nothing)", false),
            ("dispatcher", "INSERT INTO notifications (id, sender) VALUES (gen_random_uuid(), 'x')", false),
            ("dispatcher", "DELETE FROM notifications \(nothing)", false),
            ("dispatcher", "UPDATE silent_pushes SET turn = 1 \(nothing)", true),
            ("dispatcher", "DELETE FROM silent_pushes \(nothing)", false),
            ("ingest", "DELETE FROM silent_pushes \(nothing)", true),
            ("ingest", "UPDATE silent_pushes SET turn = 1 \(nothing)", false),
            ("retrieval", "SELECT FROM silent_pushes", false), ("cli", "SELECT FROM silent_pushes", false),
            ("retrieval", "SELECT sealed FROM payloads", true),
            ("retrieval", "UPDATE payloads SET sealed = NULL \(nothing)", false),
            ("retrieval", "DELETE FROM payloads \(nothing)", false),
            ("retrieval", "UPDATE notifications SET read_at = 1 \(nothing)", true),
            ("retrieval", "UPDATE notifications SET shown_at = 1 \(nothing)", true),
            ("retrieval", "UPDATE notifications SET status = 1 \(nothing)", false),
            ("retrieval", "INSERT INTO outbox (notification_id, due_at) VALUES (gen_random_uuid(), 1)", false),
            ("retrieval", "INSERT INTO follow_ups (notification_id, kind, due_at) SELECT NULL, 1, 1 \(nothing)", true),
            (
                "retrieval",
                "INSERT INTO follow_ups (notification_id, kind, due_at, step) SELECT NULL, 1, 1, 1 \(nothing)", false
            ),
            ("retrieval", "SELECT notification_id FROM follow_ups", false),
            ("retrieval", "UPDATE answers SET action = 'ok', text_sealed = NULL \(nothing)", true),
            ("retrieval", "UPDATE answers SET challenge = NULL \(nothing)", false),
            ("retrieval", "DELETE FROM answers \(nothing)", false),
            ("ingest", "UPDATE answers SET action = 'ok' \(nothing)", false),
            ("dispatcher", "SELECT FROM answers", false), ("cli", "SELECT challenge FROM answers", false),
            ("operator", "SELECT action, answered_at FROM answers", true),
            ("operator", "SELECT text_sealed FROM answers", false),
            ("retrieval", "UPDATE follow_ups SET due_at = 1 \(nothing)", false),
            ("dispatcher", "UPDATE follow_ups SET step = 1 \(nothing)", true),
            ("dispatcher", "DELETE FROM follow_ups \(nothing)", false),
            ("cli", "SELECT FROM follow_ups", false),
            ("retrieval", "SELECT FROM outbox", false), ("retrieval", "SELECT FROM idempotency_keys", false),
            ("retrieval", "DELETE FROM installations \(nothing)", true),
            ("retrieval", "UPDATE refresh_tokens SET expires_at = 1 \(nothing)", true),
            ("ingest", "SELECT FROM refresh_tokens", false), ("dispatcher", "SELECT FROM refresh_tokens", false),
            ("cli", "SELECT FROM refresh_tokens", false),
            ("dispatcher", "UPDATE outcome_watch SET until = 1 \(nothing)", true),
            ("dispatcher", "DELETE FROM outcome_watch \(nothing)", false),
            ("ingest", "SELECT FROM outcome_watch", false), ("retrieval", "SELECT FROM outcome_watch", false),
            ("cli", "SELECT FROM outcome_watch", false),
            ("cli", "SELECT last_seen_at, expires_at FROM installations", true),
            ("dispatcher", "SELECT last_seen_at FROM installations", false),
            ("cli", "UPDATE notifications SET deliveries = NULL \(nothing)", true),
            ("cli", "UPDATE notifications SET read_at = 1 \(nothing)", false),
            ("cli", "DELETE FROM notifications \(nothing)", false),
            ("cli", "DELETE FROM payloads \(nothing)", false),
            ("cli", "SELECT FROM idempotency_keys", false),
            ("operator", "SELECT id, sender, recipient, deliveries FROM notifications", true),
            ("operator", "SELECT alert_title FROM notifications", false),
            ("operator", "SELECT alert_body FROM notifications", false),
            ("operator", "UPDATE notifications SET status = 1, deliveries = NULL, claimed_at = NULL \(nothing)", true),
            ("operator", "UPDATE notifications SET recipient = 'x' \(nothing)", false),
            ("operator", "UPDATE notifications SET read_at = 1 \(nothing)", false),
            ("operator", "UPDATE notifications SET revoked_at = 1 \(nothing)", false),
            ("operator", "UPDATE notifications SET expires_at = 1 \(nothing)", false),
            ("operator", "DELETE FROM notifications \(nothing)", false),
            ("operator", "INSERT INTO notifications (id, sender) VALUES (gen_random_uuid(), 'x')", false),
            ("operator", "INSERT INTO outbox (notification_id, due_at) SELECT NULL, 1 \(nothing)", true),
            ("operator", "DELETE FROM outbox \(nothing)", false),
            ("operator", "SELECT deliveries FROM follow_ups", true),
            ("operator", "UPDATE follow_ups SET due_at = 1 \(nothing)", false),
        ]
        let hidden = [
            "payloads", "registrations", "installations", "device_places", "device_leases", "idempotency_keys",
            "silent_pushes", "refresh_tokens", "outcome_watch",
        ]
        return all + hidden.map { ("operator", "SELECT FROM \($0)", false) }
    }()

    @Test func `No role of the database may do more than its work`() async throws {
        try await withSeparatedStack { stack in
            for (role, statement, isAllowed) in Self.statements {
                let url = try stack.url("database", of: role)
                do {
                    try await sql(statement, at: url)
                    #expect(isAllowed, "\(role) may: \(statement)")
                } catch let failure as ProgramFailed {
                    #expect(!isAllowed, "\(role): \(failure.output)")
                    let isRefusal = ["permission denied", "must be owner", "must be superuser"].contains {
                        failure.output.contains($0)
                    }
                    #expect(isRefusal, "\(role), \(statement): \(failure.output)")
                }
            }
            let supers = try await sql(
                "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'securepush_%' AND (rolsuper OR rolcreaterole "
                    + "OR rolcreatedb OR rolreplication OR rolbypassrls)", at: stack.database.adminURL)
            #expect(supers.hasPrefix("0"))
            // The passwords are those of the URLs, and no other opens a role.
            let other = try stack.url("database", of: "dispatcher").replacing(/:[0-9a-f]{24}@/, with: ":0@")
            await #expect(throws: ProgramFailed.self) { try await sql("SELECT 1", at: other) }
        }
    }

    @Test func `No user of the broker may do more than its work`() async throws {
        try await withSeparatedStack { stack in
            let exchanges = ["securepush.notifications", "securepush.dead", "", "amq.direct"]
            let writable = [
                "ingest": ["securepush.notifications"], "dispatcher": ["securepush.dead", ""],
                "cli": ["securepush.notifications"], "operator": [],
            ]
            for (user, allowed) in writable {
                let configuration = try AMQPConfiguration(url: stack.url("amqp", of: user), connectionName: "test")
                for exchange in exchanges {
                    let code = try await Self.publish(to: exchange, configuration)
                    #expect(
                        (code == nil) == allowed.contains(exchange),
                        "\(user) to \(exchange): \(String(describing: code))")
                }
                for queue in ["securepush.dispatch", "securepush.dead", "securepush.retry.1"] {
                    #expect(try await Self.code(configuration) { try await $0.expectLeader(of: queue) } == nil)
                    // Deleting is configuring.
                    let code = try await Self.code(configuration) { try await $0.delete(queue: queue) }
                    #expect(code == .accessRefused, "\(user) deletes \(queue)")
                }
                let refused: [AMQPTopology] = [
                    AMQPTopology(queues: [.init("securepush.mine")]), AMQPTopology(queues: [.init("mine")]),
                    AMQPTopology(exchanges: [.init("securepush.mine", .fanout)]),
                    AMQPTopology(bindings: [.init(queue: "securepush.dispatch", exchange: "securepush.dead")]),
                ]
                for topology in refused {
                    let code = try await Self.code(configuration) { try await $0.declare(topology) }
                    #expect(code == .accessRefused, "\(user): \(topology)")
                }
            }
            let folder = try FileManager.default.contentsOfDirectory(
                atPath: stack.services.appending(path: "retrieval").path)
            #expect(!folder.contains("amqp-url"))
        }
    }

    /// The error of a publish; `nil` where the broker took the message, or gave it back for it has no queue for it.
    private static func publish(
        to exchange: String, _ configuration: AMQPConfiguration
    ) async throws -> AMQPError.Code? {
        let publisher = try AMQPPublisher(configuration: configuration, publishTimeout: .seconds(5), logger: quiet)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { await publisher.run() }
            defer { group.cancelAll() }
            _ = try? await eventually { publisher.isConnected }
            let message = AMQPMessage(exchange: exchange, routingKey: "no-such-queue", body: [1], messageID: "1")
            switch await publisher.publish([message])[0] {
            case .success: return nil
            case .failure(let error): return error.code == .returned ? nil : error.code
            }
        }
    }

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func code(
        _ configuration: AMQPConfiguration, _ body: (AMQPConnection) async throws -> Void
    ) async throws -> AMQPError.Code? {
        let connection = try await AMQPConnection.open(configuration)
        var code: AMQPError.Code?
        do { try await body(connection) } catch let error as AMQPError { code = error.code }
        await connection.close()
        return code
    }

    @Test func `Every service works with its own rights`() async throws {
        try await withSeparatedStack { stack in
            let hub = try await stack.start("hub")
            let ingest = try await stack.start("ingest")
            let dispatcher = try await stack.start("dispatcher")
            let retrieval = try await stack.start("retrieval")
            try await expectReady(ingest, dispatcher)
            #expect(try await retrieval.isReady(#""database":"up""#))
            let device = try await Self.token(of: "alice", retrieval, stack)
            try await Self.registerDevices(retrieval, device)
            let publicKey = try await Self.registerKey(retrieval, device)

            // Two tries of each platform fail: the third goes by the delay queues.
            let fault = #"{"Operation":"send","Status":503,"Count":6}"#
            #expect(try await hub.request(.POST, "/emulator/faults", body: fault).status < 300)
            let key = try String(
                contentsOf: stack.secrets.appending(path: "ingest-api-key"), encoding: .utf8
            ).split(separator: "\n").joined()
            let keys = try await ingest.request(.GET, "/api/recipients/alice/keys", bearer: key)
            #expect(keys.status == 200 && keys.body.contains(publicKey), "\(keys.body)")
            let id = try await Self.send(ingest, key, "for alice alone")
            let status = "/api/notifications/\(id)/status"
            let isDispatched = try await eventually {
                try await ingest.request(.GET, status, bearer: key).body.contains(#""Status":"dispatched""#)
            }
            let told = try await ingest.request(.GET, status, bearer: key).body
            #expect(isDispatched, "\(told)")

            let path = "/api/notifications/\(id)"
            #expect(try await retrieval.request(.GET, path, bearer: device).body.contains("for alice alone"))
            #expect(try await retrieval.request(.GET, "/api/notifications", bearer: device).status == 200)
            #expect(try await ingest.request(.GET, status, bearer: key).body.contains(#""ReadAt""#))
            #expect(try await ingest.request(.DELETE, path, bearer: key).status == 204)
            #expect(try await retrieval.request(.GET, path, bearer: device).status == 410)
            #expect(try await ingest.request(.GET, "/api/notifications", bearer: key).body.contains("\(id)"))
            let installation = "/api/installations/phone-1"
            #expect(try await retrieval.request(.GET, installation, bearer: device).status == 200)
            #expect(try await retrieval.request(.DELETE, installation, bearer: device).status == 204)

            // The command line's work.
            try await stack.securepush("dead-letters", "list", environment: stack.commandLineEnvironment)
            try await stack.securepush("dead-letters", "purge", "--yes", environment: stack.commandLineEnvironment)
            for service in [ingest, dispatcher, retrieval] { try await service.drain() }
            for refusal in ["permission denied", "ACCESS_REFUSED"] {
                #expect(!stack.logs.contains(refusal), "\(refusal): \(stack.logs.prefix(2000))")
            }
        }
    }

    /// It takes dead letters and reopens notifications; ingest publishes them, for the operator may not.
    @Test func `The operator's page works with its own rights, and what it sends again goes out`() async throws {
        try await withSeparatedStack { stack in
            let hub = try await stack.start("hub")
            let (ingest, dispatcher) = (try await stack.start("ingest"), try await stack.start("dispatcher"))
            let page = try await stack.start("operator")
            try await expectReady(ingest, dispatcher)
            #expect(try await page.isReady(#""amqp":"up""#))
            let file = stack.services.appending(path: "operator/admin-password")
            let password = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").joined()
            let admin = "Basic " + Data("admin:\(password)".utf8).base64EncodedString()
            let key = try String(
                contentsOf: stack.secrets.appending(path: "ingest-api-key"), encoding: .utf8
            ).split(separator: "\n").joined()

            let fault = #"{"Operation":"send","Status":400,"Count":3}"#
            #expect(try await hub.request(.POST, "/emulator/faults", body: fault).status < 300)
            let id = try await Self.send(ingest, key, "for alice alone")
            let isDead = try await eventually {
                let letters = try await page.request(.GET, "/admin/api/dead-letters", authorization: admin)
                return letters.status == 200 && letters.body.contains("\(id)") && letters.body.contains("alice")
            }
            #expect(isDead)
            for path in ["overview", "failures", "notifications/\(id)"] {
                let answer = try await page.request(.GET, "/admin/api/\(path)", authorization: admin)
                #expect(answer.status == 200 && !answer.body.contains("alone"), "\(path): \(answer.body)")
            }
            let found = try await page.request(
                .POST, "/admin/api/notifications/search", authorization: admin, body: #"{"Recipient":"alice"}"#)
            #expect(found.status == 200 && found.body.contains("\(id)"), "\(found.body)")

            let replay = try await page.request(
                .POST, "/admin/api/dead-letters/replay", authorization: admin, body: #"{"All":true}"#)
            #expect(replay.status == 200 && !replay.body.contains(#""Replayed":0"#), "\(replay.body)")
            let isDispatched = try await eventually {
                try await ingest.request(.GET, "/api/notifications/\(id)/status", bearer: key)
                    .body.contains(#""Status":"dispatched""#)
            }
            #expect(isDispatched)
            let resend = try await page.request(
                .POST, "/admin/api/notifications/\(id)/resend", authorization: admin, body: "{}")
            #expect(resend.status == 200 && resend.body.contains(#""Settled":1"#), "\(resend.body)")
            for service in [ingest, dispatcher, page] { try await service.drain() }
            for refusal in ["permission denied", "ACCESS_REFUSED"] {
                #expect(!stack.logs.contains(refusal), "\(refusal): \(stack.logs.prefix(2000))")
            }
        }
    }

    private static func token(
        of user: String, _ retrieval: RunningService, _ stack: SeparatedStack
    ) async throws -> String {
        let file = stack.secrets.appending(path: "\(user).password")
        let password = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").joined()
        let basic = Data("\(user):\(password)".utf8).base64EncodedString()
        let answer = try await retrieval.request(.POST, "/api/token", authorization: "Basic \(basic)")
        let document = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        return try #require(document?["access_token"] as? String, "\(answer.status) \(answer.body)")
    }

    /// A device in the hub's own form, and one in the tutorial's.
    private static func registerDevices(_ retrieval: RunningService, _ token: String) async throws {
        let handle = String(repeating: "ab", count: 32)
        let installation = try await retrieval.request(
            .PUT, "/api/installations/phone-1", bearer: token,
            body: #"{"platform":"apns","pushChannel":"\#(handle)"}"#)
        #expect(installation.status == 200, "\(installation.body)")
        let registration = try await retrieval.request(
            .POST, "/api/register?handle=\(String(repeating: "cd", count: 32))", bearer: token)
        #expect(registration.status == 200, "\(registration.body)")
    }

    /// The public key of the installation, for end-to-end encryption.
    private static func registerKey(_ retrieval: RunningService, _ token: String) async throws -> String {
        let key = EncryptionKey(point: ES256Key().publicPoint)
        let jwk = try #require(key).jwk
        let answer = try await retrieval.request(.PUT, "/api/devices/phone-1/key", bearer: token, body: jwk)
        #expect(answer.status == 204, "\(answer.body)")
        return jwk
    }

    private static func send(_ ingest: RunningService, _ key: String, _ payload: String) async throws -> NotificationID
    {
        let body = #"{"Recipient":"alice","Payload":"\#(payload)"}"#
        let answer = try await ingest.request(.POST, "/api/notifications", bearer: key, body: body)
        try #require(answer.status == 201, "\(answer.body)")
        let location = try #require(answer.headers.first(name: "Location"))
        return try #require(NotificationID(String(location.suffix(36))))
    }

    @Test func `Doctor tells which service has enough rights at the broker, and changes nothing`() async throws {
        try await withSeparatedStack { stack in
            let port = stack.broker.port
            try await stack.broker.control("add_user", "nobody", "nobody")
            try await stack.broker.control("set_permissions", "nobody", "^$", "^$", #"^securepush\..*"#)
            try await stack.broker.control("add_user", "half", "half")
            try await stack.broker.control("set_permissions", "half", "^$", #"^securepush\.dead$"#, #"^securepush\..*"#)
            let users = [
                (try stack.url("amqp", of: "ingest"), "ok", "what ingest publishes"),
                (try stack.url("amqp", of: "dispatcher"), "ok", "what a dispatcher publishes"),
                (try stack.url("amqp", of: "cli"), "ok", "what ingest publishes"),
                ("amqp://nobody:nobody@127.0.0.1:\(port)/", "failed", "securepush.notifications and securepush.dead"),
                ("amqp://half:half@127.0.0.1:\(port)/", "failed", "securepush.notifications and the default exchange"),
            ]
            for (url, state, words) in users {
                let process = try ProcessUnderTest(
                    "securepush", ["doctor", "--json"],
                    environment: ["AMQP_URL": url, "AMQP_DECLARE": "check", "RETRY_DELAYS": "1s,2s"],
                    folder: stack.folder)
                _ = try await process.exitCode(within: .seconds(60))
                let rights = process.standardOutput.split(separator: "\n").compactMap { JSONValue(text: String($0)) }
                    .first { $0["Part"]?.text == "rights" }
                #expect(rights?["State"]?.text == state, "\(process.standardOutput)")
                #expect(rights?["Detail"]?.text?.contains(words) == true, "\(process.standardOutput)")
            }
            let broker = try AMQPConfiguration(url: try stack.url("amqp", of: "cli"), connectionName: "test")
            for queue in ["securepush.dead", "securepush.dispatch"] {
                let status = try await AMQPConnection.with(broker) { try await $0.inspect(queue: queue) }
                #expect(status.messages == 0)
            }
        }
    }
}
