import Testing

@testable import SecurePushCLI

@Suite struct DoctorTests {
    @Test(arguments: [
        ("0.11.0-1+deb12u3", Finding.State.ok), ("0.11.0-1+deb12u10", .ok), ("0.16.0-1", .ok), ("1.0.0", .ok),
        ("0.15.0-1+deb13u1", .ok), ("0.11.0-1+deb12u2", .faulty), ("0.11.0-1+b1", .faulty), ("0.15.0", .faulty),
    ])
    func `Patched librabbitmq`(version: String, state: Finding.State) {
        #expect(Doctor.library(version: version).state == state)
    }

    @Test func `Exit codes`() {
        let unreachable = Finding.unreachable("a", "", "")
        let faulty = Finding.faulty("b", "", "")
        #expect(Finding.exitCode([]) == .configuration)
        #expect(Finding.exitCode([.ok("a", "")]) == nil)
        #expect(Finding.exitCode([.ok("a", ""), faulty]) == .failed)
        #expect(Finding.exitCode([faulty, unreachable]) == .unreachable)
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
            #expect(findings.map(\.state) == [.ok, .faulty, .faulty])
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
        #expect(states["AMQP_URL"] == .unreachable)
        #expect(states["INGEST_URL"] == .unreachable)
        #expect(states["RETRIEVAL_URL"] == .faulty)
        #expect(states["DATABASE_URL"] == .faulty)
        for finding in findings where finding.state != .ok { #expect(finding.advice?.isEmpty == false) }
    }
}
