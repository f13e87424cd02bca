import AMQP
import Domain
import Foundation
import Foundations
import Messaging
import ServiceRuntime
import TestSupport
import Testing

@testable import SecurePushCLI

/// Each finding says what is wrong and what to do.
@Suite struct DoctorFindingTests {
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)
    private static let day = Duration.seconds(86_400)

    @Test(arguments: [
        (-10, 90, Finding.State.ok, "is valid until"), (-10, 13, .warning, "expires at"),
        (-90, -1, .failed, "expired at"), (1, 90, .failed, "not valid before"),
    ])
    func `Certificates`(begin: Int, end: Int, state: Finding.State, words: String) {
        let finding = Doctor.certificate(
            "c.pem", from: Self.now + Self.day * begin, until: Self.now + Self.day * end, now: Self.now)
        #expect(finding.state == state && finding.detail.contains(words))
    }

    @Test func `The private key is that of the certificate, as a service demands it`() async throws {
        try await withTemporaryFolder { folder in
            let (one, other) = try (certificate(in: folder, "one"), certificate(in: folder, "other"))
            for (key, state, words) in [
                (one.keyFile, Finding.State.ok, "has the key of the certificate"),
                (other.keyFile, .failed, "not the key of the certificate"),
                (folder + "/none", .failed, "does not exist"),
                (one.rootFile, .failed, "no PEM private key"), ("", .failed, "is needed"),
            ] {
                let settings = ["TLS_CERTIFICATE_FILE": one.certificateFile, "TLS_PRIVATE_KEY_FILE": key]
                let findings = await Doctor(settings: Settings(settings)).examine { _ in }
                #expect(findings.map(\.part) == ["TLS_CERTIFICATE_FILE", "TLS_PRIVATE_KEY_FILE"])
                #expect(findings[0].state == .ok && findings[1].state == state, "\(findings)")
                #expect(findings[1].detail.contains(words), "\(findings[1])")
            }
        }
    }

    private func certificate(in folder: String, _ name: String) throws -> LocalCertificate {
        let certificate = LocalCertificate(
            rootFile: "\(folder)/\(name)-ca.pem", certificateFile: "\(folder)/\(name).pem",
            keyFile: "\(folder)/\(name)-key.pem", hosts: ["localhost"])
        _ = try certificate.make()
        return certificate
    }

    @Test(arguments: [(0, nil), (299, nil), (-299, nil), (301, "behind"), (-3600, "ahead")] as [(Int, String?)])
    func `A clock may be five minutes from the hub's`(seconds: Int, word: String?) {
        let finding = Doctor.clock(hub: Self.now + .seconds(seconds), here: Self.now)
        #expect((finding == nil) == (word == nil))
        if let word { #expect(finding?.detail.contains(word) == true && finding?.advice?.contains("NTP") == true) }
    }

    @Test(arguments: [
        (PushGatewayError.Code.unauthorized, Finding.State.failed, "connection string"),
        (.throttled, .failed, "tier"), (.unavailable, .failed, "reached"), (.rejected, .failed, "HUB_NAME"),
    ])
    func `The hub's refusals`(code: PushGatewayError.Code, state: Finding.State, advice: String) {
        let finding = Doctor.hub("HUB", PushGatewayError(code, "the hub answered so"))
        #expect(finding.state == state && finding.advice?.contains(advice) == true)
        #expect(finding.isUnreachable == [.throttled, .unavailable].contains(code))
    }

    @Test func `Another version, or another service`() {
        let current = SecurePushVersion.current
        #expect(Doctor.version("U", "ingest", name: "ingest", version: current) == nil)
        #expect(Doctor.version("U", "ingest", name: nil, version: nil) == nil)
        let old = Doctor.version("U", "ingest", name: "ingest", version: "0.0.0")
        #expect(old?.state == .warning && old?.detail.contains("0.0.0") == true)
        #expect(Doctor.version("U", "ingest", name: "retrieval", version: current)?.advice == "Correct U.")
    }

    @Test func `Queues`() {
        let topology = DispatchTopology(retryDelays: [.seconds(1)])
        func finding(_ queue: String, _ messages: Int, _ consumers: Int) -> Finding {
            Doctor.queue(queue, AMQPQueueStatus(messages: messages, consumers: consumers), topology)
        }
        #expect(finding(topology.dispatchQueue, 5, 1).state == .ok)
        #expect(finding(topology.dispatchQueue, 5, 1).detail == "5 messages, 1 consumer")
        #expect(finding(topology.dispatchQueue, 1, 2000).detail == "1 message, 2,000 consumers")
        #expect(finding(topology.dispatchQueue, 5, 0).advice == "Start a dispatcher.")
        #expect(finding(topology.deadQueue, 0, 0).state == .ok)
        #expect(finding(topology.deadQueue, 1200, 0).detail == "1,200 dead letters")
        #expect(finding(topology.deadQueue, 1, 0).detail == "1 dead letter")
        #expect(finding(topology.deadQueue, 1, 0).state == .warning)
        #expect(finding("securepush.retry.1", 7, 0).state == .ok)
    }

    @Test func `A queue without a leader comes with the command that gives it one`() throws {
        let error = AMQPError(.queueUnavailable, "no answer")
        let configuration = try AMQPConfiguration(url: "amqp://127.0.0.1/%2F", connectionName: "tests")
        let finding = Doctor.queue("securepush.dispatch", error, configuration)
        #expect(finding.state == .failed)
        let command = #"rabbitmqctl eval "ra:trigger_election({'%2F_securepush.dispatch', node()}).""#
        #expect(finding.advice?.contains(command) == true)
        #expect(finding.advice?.contains("issue 10070") == true)
    }

    @Test(arguments: [
        ("keys", "no ring", "PAYLOAD_KEYS_FILE"), ("jwks", "{}", "AUTH_JWKS_FILE"),
        ("jwks", #"{"keys":[]}"#, "AUTH_JWKS_FILE"), ("jwks", "not JSON", "AUTH_JWKS_FILE"),
        ("cert", "no certificate", "TLS_CERTIFICATE_FILE"), ("pem", "no key", "AUTH_TOKEN_SIGNING_KEY_FILE"),
        ("db", "no database, whatever its name says", "DATABASE_URL"),
    ])
    func `Files that hold something else`(name: String, text: String, key: String) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/" + name
            try SecretFile.create(path, text)
            let value = key == "DATABASE_URL" ? "sqlite:" + path : path
            let findings = await Doctor(settings: Settings([key: value])).examine { _ in }
            #expect(findings.map(\.state) == [.failed], "\(findings)")
            #expect(findings.first?.advice?.isEmpty == false)
        }
    }

    @Test func `A file that others may read, and a database that needs a migration`() async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://127.0.0.1:8090/")
            _ = try setup.run()
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: setup.payloadKeys)
            let database = folder + "/empty.sqlite"
            try Data().write(to: URL(filePath: database))
            let settings = Settings([
                "PAYLOAD_KEYS_FILE": setup.payloadKeys, "DATABASE_URL": "sqlite:" + database,
                "AUTH_JWKS_FILE": setup.jwks,
            ])
            let findings = await Doctor(settings: settings).examine { _ in }
            let byPart = Dictionary(findings.map { ($0.part, $0) }) { first, _ in first }
            #expect(byPart["PAYLOAD_KEYS_FILE"]?.advice == "chmod 600 \(setup.payloadKeys)")
            #expect(byPart["AUTH_JWKS_FILE"]?.state == .ok)
            #expect(byPart["DATABASE_URL"]?.advice?.contains("securepush migrate") == true)
        }
    }

    @Test func `A key that the file of credentials names, and that others may read`() async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://127.0.0.1:8085/")
            _ = try setup.run()
            let doctor = Doctor(settings: Settings(["PUSH_CREDENTIALS_FILE": setup.pushCredentials]))
            #expect(await doctor.files().map(\.state) == [.ok])
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: setup.vapidKey)
            let finding = try #require(await doctor.files().first)
            #expect(finding.state == .failed && finding.detail.contains("vapid.pem"), "\(finding)")
        }
    }

    @Test func `The API key is tried at ingest`() async throws {
        try await LocalServices.with { services in
            let url = services.environment["INGEST_URL"]
            let key = services.environment["INGEST_API_KEY"]
            for (value, state) in [(key, Finding.State.ok), ("wrong", .failed), ("two\u{1}lines", .failed)] {
                let settings = Settings(["INGEST_URL": url ?? "", "INGEST_API_KEY": value ?? ""])
                let findings = await Doctor(settings: settings).examine { _ in }
                let finding = try #require(findings.first { $0.part == "INGEST_API_KEY" })
                #expect(finding.state == state, "\(finding)")
                #expect(!"\(finding)".contains(value ?? ""))
            }
            let none = await Doctor(settings: Settings(["INGEST_URL": url ?? ""])).examine { _ in }
            #expect(none.map(\.part) == ["INGEST_URL"])
        }
        // Nothing is said where ingest itself fails.
        #expect(Doctor.apiKey(status: 503) == nil)
    }

    @Test func `Services`() async throws {
        try await LocalServices.with { services in
            let ingest = services.environment["INGEST_URL"] ?? ""
            let settings = Settings([
                "INGEST_URL": ingest, "RETRIEVAL_URL": ingest, "HUB_EMULATOR_URL": "http://127.0.0.1:1",
                "AUTH_JWKS_URL": ingest + "/livez",
            ])
            let findings = await Doctor(settings: settings).examine { _ in }
            let told = findings.map { "\($0.part) \($0.state)" }
            #expect(
                told == [
                    "AUTH_JWKS_URL failed", "INGEST_URL warning", "RETRIEVAL_URL warning", "RETRIEVAL_URL failed",
                    "HUB_EMULATOR_URL failed",
                ])
            #expect(findings[3].detail == "ingest answers there instead of retrieval")
            // The broker is down, which is no fault of ingest's.
            #expect(findings[1].detail.hasPrefix("ingest is ready, but amqp is down ("))
            #expect(findings[1].advice?.contains("Ingest accepts notifications meanwhile") == true)
            #expect(findings[1].advice?.contains("make up") == false)
            #expect(!findings.contains { $0.detail.contains("{") })
            #expect(findings[4].isUnreachable)
        }
    }

    @Test(arguments: [
        (
            200, #"{"status":"ready","checks":{"database":"up","amqp":"up"},"outbox":{"pending":1200}}"#,
            Finding.State.ok, "ingest is ready (amqp, database), 1,200 in the outbox"
        ),
        (
            200, #"{"status":"ready","checks":{"amqp":"down"},"reasons":{"amqp":"no connection"}}"#, .warning,
            "ingest is ready, but amqp is down (no connection)"
        ),
        (
            503, #"{"status":"unready","checks":{"database":"down"},"reasons":{"database":"locked"}}"#, .failed,
            "ingest is not ready: database is down (locked)"
        ),
        (
            503, #"{"status":"unready","checks":{"amqp":"down","database":"down"}}"#, .failed,
            "ingest is not ready: amqp is down, database is down"
        ),
        (502, "<html>", .failed, "ingest is not ready: it answers 502"),
    ])
    func `Readiness in words`(status: Int, body: String, state: Finding.State, words: String) {
        let finding = Doctor.readiness("INGEST_URL", "ingest", APIResponse(status: status, body: body))
        #expect(finding.state == state && finding.detail == words)
        #expect((finding.advice == nil) == (state == .ok))
        if state == .failed { #expect(finding.advice?.contains("accepts") == false) }
    }

    @Test(arguments: [
        ("0 0", Finding.State.ok, "the lanes are open: apple, windows"),
        ("1 0", .warning, "the lane is paused for apple"), ("1 2", .failed, "refuses the credentials for windows"),
    ])
    func `Lanes`(states: String, state: Finding.State, words: String) throws {
        let values = states.split(separator: " ")
        let text = zip(["apple", "windows"], values).map { platform, value in
            "securepush_lane_state{platform=\"\(platform)\",hub=\"h\"} \(value)\n"
        }.joined()
        let finding = try #require(Doctor.lanes("DISPATCHER_URL", PrometheusSamples(text)))
        #expect(finding.state == state && finding.detail.contains(words))
        #expect(Doctor.lanes("DISPATCHER_URL", PrometheusSamples("")) == nil)
    }

    @Test func `Every dispatcher is asked, and its lanes`() async throws {
        let answer: @Sendable (String, Int) -> ScriptedServer.Answer = { request, _ in
            switch request {
            case "GET /readyz": .init(body: #"{"status":"ready","checks":{"database":"up","amqp":"up"}}"#)
            case "GET /metrics": .init(body: "securepush_lane_state{platform=\"apple\",hub=\"h\"} 1\n")
            default: .init(body: #"{"Name":"dispatcher","Version":"\#(SecurePushVersion.current)"}"#)
            }
        }
        try await ScriptedServer.with(answer) { server in
            let one = await Doctor(settings: Settings(["DISPATCHER_URL": server.url])).examine { _ in }
            #expect(one.map(\.state) == [.ok, .warning] && one.map(\.part) == ["DISPATCHER_URL", "DISPATCHER_URL"])
            #expect(one.first?.detail == "dispatcher is ready (amqp, database)")
            let urls = "\(server.url), http://127.0.0.1:1"
            let two = await Doctor(settings: Settings(["DISPATCHER_URL": urls])).examine { _ in }
            #expect(two.map(\.state) == [.ok, .warning, .failed])
            #expect(two.last?.part == "DISPATCHER_URL http://127.0.0.1:1" && two.last?.isUnreachable == true)
        }
    }
}
