import Domain
import Foundation
import Foundations
import StackKit
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct DoctorDatabaseTests {
    /// Stores a payload for each of these keys.
    private func store(_ keys: [String], at url: String) async throws {
        _ = try await StoreSession.migrate(url)
        try await StoreSession.with(url) { store in
            for key in keys {
                let notification = Notification(
                    id: NotificationID(), sender: "s", recipient: UserName("u")!, createdAt: .now,
                    expiresAt: .now + .seconds(3600))
                let payload = SealedPayload(keyID: key, bytes: [1, 2, 3])
                try await store.append([SealedNotification(notification: notification, payload: payload)])
            }
        }
    }

    @Test(arguments: [
        (["k1"], ["the key ring has the keys of all stored payloads"]), ([], ["the key ring has the keys of all"]),
        (["k1", "k2"], ["the key ring has no key k2, so 1 payload cannot be opened"]),
        (["k3", "k2", "k3"], ["no key k2, so 1 payload", "no key k3, so 2 payloads"]),
    ])
    func `The key ring is compared with the stored payloads`(stored: [String], told: [String]) async throws {
        try await withTemporaryFolder { folder in
            let (ring, url) = (folder + "/payload.keys", "sqlite:\(folder)/data.sqlite")
            try SecretFile.create(ring, PayloadKeyRing.newLine(id: "k1"))
            try await store(stored, at: url)
            let findings = await Doctor(settings: Settings(["PAYLOAD_KEYS_FILE": ring, "DATABASE_URL": url]))
                .examine { _ in }
            #expect(findings.prefix(2).map(\.state) == [.ok, .ok], "\(findings)")
            let keys = findings.dropFirst(2)
            #expect(keys.count == told.count && keys.allSatisfy { $0.part == "PAYLOAD_KEYS_FILE" })
            for (finding, words) in zip(keys, told) { #expect(finding.detail.contains(words), "\(finding)") }
            let isFault = stored.contains { $0 != "k1" }
            #expect(keys.allSatisfy { $0.state == (isFault ? .failed : .ok) })
        }
    }

    @Test(
        arguments: [(0, Finding.State.failed), (19, .failed), (20, .warning), (499, .warning), (500, nil)]
            as [(Int64, Finding.State?)])
    func `A disk that is full, or soon will be`(megabytes: Int64, state: Finding.State?) {
        let finding = Doctor.disk("DATABASE_URL", free: megabytes * 1_000_000)
        #expect(finding?.state == state)
        if let finding { #expect(finding.detail == "the disk of the database has \(megabytes) MB left") }
    }

    @Test func `What a database refuses is told once`() async throws {
        let url = "postgres://role:secret@127.0.0.1:1/name"
        let words = "There is no connection to the database. Nothing listens at the server's address."
        var findings: [Finding] = []
        // On a busy machine doctor can end its wait before the first attempt has failed. Then it has no reason.
        let isTold = try await eventually {
            findings = await Doctor(settings: Settings(["DATABASE_URL": url])).examine { _ in }
            return findings.first?.detail == "The database: \(words)"
        }
        #expect(isTold && findings.count == 1 && findings[0].isUnreachable, "\(findings)")
        #expect(findings[0].advice?.contains("running") == true)
    }
}
