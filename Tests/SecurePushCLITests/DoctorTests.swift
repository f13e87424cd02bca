import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct DoctorTests {
    @Test(arguments: [
        ("0.11.0-1+deb12u3", Finding.State.ok), ("0.11.0-1+deb12u10", .ok), ("0.16.0-1", .ok), ("1.0.0", .ok),
        ("0.15.0-1+deb13u1", .ok), ("0.11.0-1+deb12u2", .warning), ("0.11.0-1+b1", .warning), ("0.15.0", .warning),
    ])
    func `Patched librabbitmq`(version: String, state: Finding.State) {
        #expect(Doctor.library(version: version).state == state)
    }

    @Test func `Exit codes`() {
        let unreachable = Finding.unreachable("a", "", "")
        let failed = Finding.failed("b", "", "")
        let (warning, unexamined) = (Finding.warning("c", "", ""), Finding.unexamined("d", "", ""))
        #expect(Finding.exitCode([]) == .configuration)
        #expect(Finding.exitCode([.ok("a", "")]) == nil)
        #expect(Finding.exitCode([unexamined]) == .configuration)
        #expect(Finding.exitCode([.ok("a", ""), warning, unexamined]) == nil)
        #expect(Finding.exitCode([.ok("a", ""), failed]) == .failed)
        #expect(Finding.exitCode([failed, unreachable]) == .unreachable)
        let all = [.ok("a", ""), warning, failed, unreachable, unexamined]
        #expect(Finding.summary(all) == "1 ok, 1 warning, 2 failed, 1 not examined")
    }

    @Test func `A setting is named once`() {
        let error = CommandFailure(.configuration, "DATABASE_URL: /link/x: another user owns it.")
        let finding = Finding.fault("DATABASE_URL", error, unreachable: "", otherwise: "Correct it.")
        #expect(finding.detail == "/link/x: another user owns it." && finding.state == .failed)
    }

    @Test func `No settings, no findings`() async {
        #expect(await Doctor(settings: Settings(["PATH": "/bin", "AMQP_URL": ""])).examine { _ in }.isEmpty)
    }

    @Test func `Files`() async throws {
        try await withTemporaryFolder { folder in
            let setup = LocalSetup(directory: folder, hubEndpoint: "http://127.0.0.1:8090/")
            _ = try setup.run()
            let missing = folder + "/missing"
            let settings = Settings([
                "PAYLOAD_KEYS_FILE": setup.payloadKeys, "AUTH_USERS_FILE": missing,
                "INGEST_API_KEYS_FILE": setup.payloadKeys,
            ])
            let findings = await Doctor(settings: settings).examine { _ in }
            #expect(findings.map(\.part) == ["PAYLOAD_KEYS_FILE", "INGEST_API_KEYS_FILE", "AUTH_USERS_FILE"])
            #expect(findings.map(\.state) == [.ok, .failed, .failed])
            let keys = try SecretFile.read(setup.payloadKeys)
            for finding in findings { #expect(!finding.detail.contains(keys.suffix(44))) }
        }
    }

    @Test func `What does not answer is unreachable`() async {
        let settings = Settings([
            "AMQP_URL": "amqp://127.0.0.1:1", "INGEST_URL": "http://127.0.0.1:1", "RETRIEVAL_URL": "not a url",
            "DATABASE_URL": "sqlite:/nowhere/none.sqlite",
        ])
        let findings = await Doctor(settings: settings).examine { _ in }
        let states = Dictionary(findings.map { ($0.part, $0.state) }, uniquingKeysWith: { first, _ in first })
        #expect(findings.filter(\.isUnreachable).map(\.part) == ["AMQP_URL", "INGEST_URL"])
        #expect(states["RETRIEVAL_URL"] == .failed)
        #expect(states["DATABASE_URL"] == .failed)
        for finding in findings where finding.state != .ok { #expect(finding.advice?.isEmpty == false) }
    }

    @Test func `A file that should hold a URL is named if it cannot be read`() async throws {
        let settings = Settings(["AMQP_URL_FILE": "/nowhere", "DATABASE_URL_FILE": "/nowhere"])
        let findings = await Doctor(settings: settings).examine { _ in }
        for part in ["AMQP_URL", "DATABASE_URL"] {
            let finding = try #require(findings.first { $0.part == part })
            #expect(finding.state == .failed && finding.detail.hasPrefix("\(part)_FILE: /nowhere"), "\(finding)")
        }
    }

    @Test func `Each part without its setting is named with the setting`() {
        let doctor = Doctor(
            settings: Settings(["AMQP_URL": "amqp://127.0.0.1", "AUTH_JWKS_URL": "http://x", "INGEST_URL": ""]))
        let parts = doctor.unexamined.map(\.part)
        #expect(!parts.contains("AMQP_URL") && !parts.contains("AUTH_JWKS_FILE"))
        #expect(parts.contains("INGEST_URL") && parts.contains("DISPATCHER_URL") && parts.contains("DATABASE_URL"))
        let hub = doctor.unexamined.first { $0.part == "HUB_CONNECTION_STRING" }
        #expect(hub?.detail == "the hub")
        #expect(hub?.advice == "set HUB_CONNECTION_STRING or HUB_CONNECTION_STRING_FILE or HUB_POOL_FILE to examine it")
    }

    @Test func `The command prints a line for each part, and counts them`() async throws {
        try await withTemporaryFolder { folder in
            let database = ["DATABASE_URL": "sqlite:\(folder)/data.sqlite"]
            #expect(try await CommandLineRun(["migrate", "--create"], database, in: folder).code == 0)
            let run = try await CommandLineRun(["doctor"], database, in: folder)
            #expect(run.code == 0, "\(run.errors)")
            #expect(run.lines.first?.hasPrefix("ok            DATABASE_URL: ") == true)
            #expect(run.lines.contains("not examined  the broker with its queues: set AMQP_URL to examine it"))
            #expect(run.errors == "1 ok, 0 warnings, 0 failed, \(Doctor.parts.count - 1) not examined\n")
            let json = try await CommandLineRun(["doctor", "--json"], database, in: folder)
            #expect(json.lines.count == Doctor.parts.count && json.errors.isEmpty)
            #expect(json.output.contains(#""State":"not examined""#))
        }
    }
}
