import Foundation
import Foundations
import Hub
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct HubCommandTests {
    @Test func `A hub is added once, and its strings are printed once`() async throws {
        try await withTemporaryFolder { folder in
            let arguments = ["hub", "create", "App", "--access-file", "access", "--endpoint", "https://hub.example"]
            let first = try await CommandLineRun(arguments, in: folder)
            #expect(first.code == 0, "\(first.errors)")
            for (rule, right) in [("dispatcher", "Send"), ("retrieval", "Manage"), ("apps", "Listen")] {
                #expect(
                    first.output.contains(
                        "\(rule) (\(right)): Endpoint=https://hub.example/;SharedAccessKeyName=\(rule);SharedAccessKey="
                    ))
            }
            #expect(SecretFile.mode(folder + "/access") == 0o600)
            #expect(try HubTools.hubs(ofAccessFile: folder + "/access") == ["App"])
            let again = try await CommandLineRun(arguments, in: folder)
            #expect(again.code == 1 && again.errors.contains("has rules already"), "\(again.errors)")
            let second = try await CommandLineRun(["hub", "create", "other", "--access-file", "access"], in: folder)
            #expect(second.code == 0, "\(second.errors)")
            #expect(try HubTools.hubs(ofAccessFile: folder + "/access") == ["App", "other"])
        }
    }

    @Test func `A reserved name and a missing file are named`() async throws {
        try await withTemporaryFolder { folder in
            let reserved = try await CommandLineRun(["hub", "create", "livez", "--access-file", "access"], in: folder)
            #expect(reserved.code != 0 && reserved.errors.contains("reserved"))
            #expect(!SecretFile.exists(folder + "/access"))
            let none = try await CommandLineRun(["hub", "create", "app"], in: folder)
            #expect(none.code == 78 && none.errors.contains("HUB_ACCESS_FILE"))
        }
    }

    @Test func `A VAPID key is made and never replaced`() async throws {
        try await withTemporaryFolder { folder in
            let made = try await CommandLineRun(["hub", "vapid-key", "--out", "vapid.pem"], in: folder)
            #expect(made.code == 0 && made.output.trimmingCharacters(in: .newlines).utf8.count == 87, "\(made.errors)")
            #expect(SecretFile.mode(folder + "/vapid.pem") == 0o600)
            let text = try SecretFile.read(folder + "/vapid.pem")
            let again = try await CommandLineRun(["hub", "vapid-key", "--out", "vapid.pem"], in: folder)
            #expect(again.code == 1)
            #expect(try SecretFile.read(folder + "/vapid.pem") == text)
        }
    }

    @Test func `A check names simulated platforms, and a file that cannot be used is 78`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/credentials.json"
            try SecretFile.create(path, #"{"app": {"apns": {"simulated": true}}}"#)
            let good = try await CommandLineRun(["hub", "check", "--credentials-file", path, "--json"], in: folder)
            #expect(good.code == 0 && good.output.contains(#""State":"simulated""#), "\(good.output)\(good.errors)")
            let other = try await CommandLineRun(["hub", "check", "other", "--credentials-file", path], in: folder)
            #expect(other.code == 1)
            _ = try SecretFile.replace(path, #"{"app": {"apsn": {}}}"#, mode: 0o600)
            let bad = try await CommandLineRun(["hub", "check", "--credentials-file", path], in: folder)
            #expect(bad.code == 78 && bad.errors.contains("app, apsn"), "\(bad.errors)")
        }
    }

    @Test func `Lanes are read from metrics and readiness`() {
        let samples = PrometheusSamples(
            """
            securepush_hub_lane_state{hub="app",platform="apple"} 0
            securepush_hub_lane_state{hub="app",platform="browser"} 2
            securepush_hub_lane_state{hub="app",platform="windows"} 1
            securepush_hub_retries_waiting{hub="app",platform="browser"} 1200
            securepush_hub_removals_suspended{hub="app",platform="windows"} 1
            """)
        let readiness = Readiness(
            status: 200,
            body: """
                {"status":"ready","checks":{},"simulated":{"app/apple":1,"app/fcmv1":1},"in_flight":{"app/browser":3}}
                """)
        let rows = HubLaneRow.rows(ProcessState(ProcessPoll(readiness: readiness, samples: samples)))
        #expect(rows.map(\.platform) == ["apple", "browser", "fcmv1", "windows"])
        #expect(rows.map(\.state) == [.simulated, .refused, .simulated, .paused])
        #expect(rows[1].retriesWaiting == 1200 && rows[1].inFlight == 3 && rows[3].removalsSuspended)
        let findings = Doctor.ownLanes("HUB_URL", rows, simulated: readiness.simulated)
        #expect(findings.map(\.state) == [.failed, .failed, .warning, .warning])
        #expect(findings[3].detail.contains("app/apple"))
    }

    @Test func `Refused credentials fail in doctor, and unknown ones are a warning`() {
        var row = CredentialRow(hub: "app", platform: "webPush", state: .refused, reason: "BadJwtToken")
        let refused = Doctor.credentials(row, "Web Push")
        #expect(refused.state == .failed && refused.detail.contains("BadJwtToken") && !refused.isUnreachable)
        row.state = .unknown
        #expect(Doctor.credentials(row, "Web Push").state == .warning)
        row.state = .good
        #expect(Doctor.credentials(row, "Web Push").state == .ok)
    }
}
