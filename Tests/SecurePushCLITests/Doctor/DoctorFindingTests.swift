import AMQP
import Foundation
import Messaging
import SecurePushCore
import ServiceRuntime
import Testing

@testable import SecurePushCLI

/// Each finding says what is wrong and what to do.
@Suite struct DoctorFindingTests {
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)
    private static let day = Duration.seconds(86_400)

    @Test(arguments: [
        (-10, 90, Finding.State.ok, "is valid until"), (-10, 13, .faulty, "expires at"),
        (-90, -1, .faulty, "expired at"), (1, 90, .faulty, "not valid before"),
    ])
    func `Certificates`(begin: Int, end: Int, state: Finding.State, words: String) {
        let finding = Doctor.certificate(
            "c.pem", from: Self.now + Self.day * begin, until: Self.now + Self.day * end, now: Self.now)
        #expect(finding.state == state && finding.detail.contains(words))
    }

    @Test(arguments: [(0, nil), (299, nil), (-299, nil), (301, "behind"), (-3600, "ahead")] as [(Int, String?)])
    func `A clock may be five minutes from the hub's`(seconds: Int, word: String?) {
        let finding = Doctor.clock(hub: Self.now + .seconds(seconds), here: Self.now)
        #expect((finding == nil) == (word == nil))
        if let word { #expect(finding?.detail.contains(word) == true && finding?.advice?.contains("NTP") == true) }
    }

    @Test(arguments: [
        (PushGatewayError.Code.unauthorized, Finding.State.faulty, "connection string"),
        (.throttled, .unreachable, "tier"), (.unavailable, .unreachable, "reached"), (.rejected, .faulty, "HUB_NAME"),
    ])
    func `The hub's refusals`(code: PushGatewayError.Code, state: Finding.State, advice: String) {
        let finding = Doctor.hub("HUB", PushGatewayError(code, "the hub answered so"))
        #expect(finding.state == state && finding.advice?.contains(advice) == true)
    }

    @Test func `Another version, or another service`() {
        let current = SecurePushVersion.current
        #expect(Doctor.version("U", "ingest", name: "ingest", version: current) == nil)
        #expect(Doctor.version("U", "ingest", name: nil, version: nil) == nil)
        #expect(Doctor.version("U", "ingest", name: "ingest", version: "0.0.0")?.detail.contains("0.0.0") == true)
        #expect(Doctor.version("U", "ingest", name: "retrieval", version: current)?.advice == "Correct U.")
    }

    @Test func `Queues`() {
        let topology = DispatchTopology(retryDelays: [.seconds(1)])
        func finding(_ queue: String, _ messages: Int, _ consumers: Int) -> Finding {
            Doctor.queue(queue, AMQPQueueStatus(messages: messages, consumers: consumers), topology)
        }
        #expect(finding(topology.dispatchQueue, 5, 1).state == .ok)
        #expect(finding(topology.dispatchQueue, 5, 0).advice == "Start a dispatcher.")
        #expect(finding(topology.deadQueue, 0, 0).state == .ok)
        #expect(finding(topology.deadQueue, 1200, 0).detail == "1,200 dead letters")
        #expect(finding("securepush.retry.1", 7, 0).state == .ok)
    }

    @Test func `A queue without a leader comes with the command that gives it one`() throws {
        let error = AMQPError(.queueUnavailable, "no answer")
        let configuration = try AMQPConfiguration(url: "amqp://127.0.0.1/%2F", connectionName: "tests")
        let finding = Doctor.queue("securepush.dispatch", error, configuration)
        #expect(finding.state == .faulty)
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
            #expect(findings.map(\.state) == [.faulty], "\(findings)")
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
                    "AUTH_JWKS_URL faulty", "INGEST_URL ok", "RETRIEVAL_URL ok", "RETRIEVAL_URL faulty",
                    "HUB_EMULATOR_URL unreachable",
                ])
            #expect(findings[3].detail == "ingest answers there instead of retrieval")
            // The broker is down, which is no fault of ingest's.
            #expect(findings[1].detail.contains("down"))
        }
    }
}
