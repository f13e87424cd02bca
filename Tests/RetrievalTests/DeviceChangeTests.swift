import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

@Suite("Devices: several requests at once, and what a crash or a lost answer leaves behind")
struct DeviceChangeTests {
    private static func body(_ handle: String) -> String { #"{"platform":"apns","pushChannel":"\#(handle)"}"# }

    @Test func `Of two users who put a new ID at once one gets it`() async throws {
        try await withRetrieval { bench in
            for number in 0..<25 {
                async let first = bench.install("New-\(number)", Self.body("alice \(number)"))
                async let second = bench.install("new-\(number)", Self.body("bob \(number)"), by: "bob")
                let answers = try await [first.status.code, second.status.code]
                #expect(answers.sorted() == [200, 404], "\(number)")
                let owner = try await bench.store.installation("new-\(number)")?.owner.text
                #expect(owner == (answers[0] == 200 ? "alice" : "bob"))
                let document = try #require(bench.hub.installations["new-\(number)"]?.document)
                #expect(document.contains("username:\(owner ?? "")"))
            }
        }
    }

    @Test func `An ID in another case is the same device`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("Dev-1", Self.body("A1")).status == .ok)
            for id in ["dev-1", "DEV-1", "Dev-1"] {
                try (try await bench.install(id, Self.body("B1"), by: "bob")).expectProblem(404)
                for method in [HTTPRequest.Method.get, .delete] {
                    let answer = try await bench.request(
                        method, "/api/installations/\(id)", by: try bench.token("bob"))
                    try answer.expectProblem(404)
                }
            }
            let body = #"{"installationId":"DEV-1","platform":"apns","pushChannel":"A2"}"#
            #expect(try await bench.install("dev-1", body).status == .ok)
            // In its first spelling, wherever it stands.
            let kept = try await bench.request(.get, "/api/installations/dEv-1", by: try bench.token())
            #expect(kept.text.hasPrefix(#"{"installationId":"Dev-1","#) && kept.text.contains("A2"))
            #expect(bench.hub.ids == ["Dev-1", "Dev-1"])
            let gone = try await bench.request(.delete, "/api/installations/DEV-1", by: try bench.token())
            #expect(gone.status == .noContent)
            #expect(bench.hub.installations.isEmpty)
            let all = try await bench.store.installations(after: nil, limit: 9)
            #expect(all.isEmpty)
        }
    }

    @Test func `A registration's ID in another case is the same device`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.newID().uppercased()
            let body = #"{"Platform":"apns","Handle":"H"}"#
            try (try await bench.put(id, body, by: "bob")).expectProblem(404)
            #expect(try await bench.put(id, body).status == .ok)
            #expect(bench.hub.ids == [id.lowercased()])
            let delete = { try await bench.request(.delete, "/api/register/\(id)", by: try bench.token($0)) }
            try (try await delete("bob")).expectProblem(404)
            #expect(try await delete("alice").status == .ok)
            #expect(bench.hub.devices.isEmpty)
        }
    }

    @Test func `Puts of one user at once leave hub and store with one document`() async throws {
        try await withRetrieval { bench in
            for round in 0..<10 {
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<8 {
                        group.addTask {
                            let body = Self.body("\(round) \(number)")
                            var status = try await bench.install("phone", body).status.code
                            // On a busy machine its turn may take longer to come than a request waits.
                            while status == 503 { status = try await bench.install("phone", body).status.code }
                            return status
                        }
                    }
                    return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
                }
                #expect(statuses == [200])
                let stored = try #require(try await bench.store.installation("phone"))
                let kept = try #require(bench.hub.installations["phone"])
                #expect(kept.document == String(decoding: stored.document, as: UTF8.self))
                #expect(kept.handle == stored.handle)
            }
        }
    }

    @Test func `Registrations at once with one handle leave one device`() async throws {
        try await withRetrieval { bench in
            for _ in 0..<10 {
                let (own, other) = (try await bench.newID(), try await bench.newID(by: "bob"))
                async let first = bench.put(own, #"{"Platform":"apns","Handle":"H"}"#)
                async let second = bench.put(other, #"{"Platform":"apns","Handle":"H"}"#, by: "bob")
                let codes = try await [first.status.code, second.status.code]
                // One takes the handle from the other, whose ID is gone then; or it is told to try again.
                #expect(codes.contains(200) && Set(codes).isSubset(of: [200, 404, 503]), "\(codes)")
                let known = try await bench.store.registrations(handle: "H")
                #expect(known.count == 1)
                #expect(Set(bench.hub.devices.keys) == Set(known.map(\.id)))
                #expect(bench.hub.devices.values.allSatisfy { $0.tags == known.first?.tags })
            }
        }
    }

    @Test func `Installations at once with one handle leave one device`() async throws {
        try await withRetrieval { bench in
            for round in 0..<10 {
                async let first = bench.install("a\(round)", Self.body("H"))
                async let second = bench.install("b\(round)", Self.body("H"), by: "bob")
                let codes = try await [first.status.code, second.status.code]
                #expect(codes.contains(200) && Set(codes).isSubset(of: [200, 503]), "\(codes)")
                let known = try await bench.store.installations(handle: "H")
                #expect(known.count == 1)
                #expect(Set(bench.hub.installations.keys) == Set(known.map(\.id)))
            }
        }
    }

    @Test func `A lost answer leaves no device that the store does not know`() async throws {
        try await withRetrieval { bench in
            bench.hub.loseAnswers(ofPuts: 1)
            try (try await bench.install("1", Self.body("H"))).expectProblem(503)
            // The hub has it, and so has the store.
            #expect(bench.hub.installations["1"]?.handle == "H")
            #expect(try await bench.store.installation("1")?.handle == "H")
            // Another user cannot take the ID meanwhile.
            try (try await bench.install("1", Self.body("I"), by: "bob")).expectProblem(404)
            bench.hub.loseAnswers(ofPuts: 1)
            try (try await bench.install("1", Self.body("I"))).expectProblem(503)
            #expect(bench.hub.installations["1"]?.handle == "I")
            #expect(try await bench.store.installation("1")?.handle == "H")
            // The client was told that it failed. The hub gets what the store has.
            await bench.reconcile()
            #expect(bench.hub.installations["1"]?.handle == "H")
            #expect(try await bench.store.expiredLeases(limit: 9, now: .now + .seconds(99)).isEmpty)
            // And the device, when it tries again, all of it.
            #expect(try await bench.install("1", Self.body("I")).status == .ok)
            #expect(bench.hub.installations["1"]?.handle == "I")
            #expect(try await bench.store.installation("1")?.handle == "I")
        }
    }

    @Test func `A refusal does not end a doubt`() async throws {
        try await withRetrieval { bench in
            #expect(try await bench.install("1", Self.body("H")).status == .ok)
            bench.hub.loseAnswers(ofPuts: 1)
            try (try await bench.install("1", Self.body("I"))).expectProblem(503)
            bench.hub.failPuts(PushGatewayError(.throttled, "slow"))
            try (try await bench.install("1", Self.body("J"))).expectProblem(503)
            let pause = await bench.reconcile()
            #expect(pause > .seconds(1))
            bench.hub.failPuts(nil)
            await bench.reconcile()
            #expect(bench.hub.installations["1"]?.handle == "H")
            #expect(try await bench.store.installation("1")?.handle == "H")
        }
    }

    /// A process that dies holds its leases until they expire.
    @Test func `What a crash leaves behind is brought into order`() async throws {
        try await withRetrieval { bench in
            let alice = try #require(UserName("alice"))
            // The leases last until the test says so, however slow the machine is.
            let start = Timestamp.now + .seconds(3600)
            let claim = { (id: String) in
                Installation(
                    id: id, owner: alice, platform: .apple, handle: "of \(id)", document: Array(id.utf8),
                    updatedAt: .now)
            }
            // Died after the claim, before the hub was asked.
            let first = claim("claimed")
            _ = try await bench.store.lease(.installation, first.id, if: .claimed(by: first, handles: []), now: start)
            // Died after the hub had deleted it.
            #expect(try await bench.install("deleted", Self.body("D")).status == .ok)
            _ = try await bench.store.lease(.installation, "deleted", if: .owned(by: alice), now: start)
            try await bench.hub.deleteInstallation("deleted")
            // Died after the hub had got a registration.
            let id = try await bench.newID()
            _ = try await bench.store.lease(.registration, id, if: .owned(by: alice), now: start)
            try await bench.hub.putRegistration(id, platform: .apns, handle: "R", tags: ["username:alice"])
            // A device past us that was being removed.
            _ = try await bench.store.lease(.installation, "past-us", if: .absent, now: start)
            bench.hub.plant("past-us", FakeHub.Installed(handle: "P", document: "{}"))

            await bench.reconcile()
            #expect(Set(bench.hub.installations.keys) == ["past-us"])
            let later = start + DeviceLease.duration
            for expired in try await bench.store.expiredLeases(limit: 9, now: later) {
                let lease = try await bench.store.lease(expired.kind, expired.id, if: .any, now: later)
                guard case .leased(let lease) = lease else { continue }
                try await bench.store.expire(lease, now: .now)
            }
            await bench.reconcile()
            #expect(Set(bench.hub.installations.keys) == ["claimed", "deleted"])
            #expect(bench.hub.devices.isEmpty)
            #expect(try await bench.store.registration(id) != nil)
            #expect(try await bench.store.expiredLeases(limit: 9, now: later + .seconds(99)).isEmpty)
        }
    }

    @Test func `What the hub refuses in the end is forgotten`() async throws {
        try await withRetrieval { bench in
            bench.hub.loseAnswers(ofPuts: 1)
            try (try await bench.install("1", Self.body("H"))).expectProblem(503)
            bench.hub.failPuts(PushGatewayError(.rejected, "no"))
            await bench.reconcile()
            #expect(bench.hub.installations.isEmpty)
            #expect(try await bench.store.installation("1") == nil)
        }
    }

    @Test func `A device that is gone already does not stop a takeover`() async throws {
        try await withRetrieval { bench in
            let registration = try await bench.newID()
            #expect(try await bench.put(registration, #"{"Platform":"apns","Handle":"H"}"#).status == .ok)
            bench.hub.failDeletions(PushGatewayError(.gone, "gone"))
            #expect(try await bench.install("1", Self.body("H"), by: "bob").status == .ok)
            #expect(try await bench.install("2", Self.body("H")).status == .ok)
            #expect(try await bench.store.registrations(handle: "H").isEmpty)
            #expect(try await bench.store.installations(handle: "H").map(\.id) == ["2"])
            let answer = try await bench.request(.delete, "/api/installations/2", by: try bench.token())
            #expect(answer.status == .noContent)
        }
    }

    @Test func `A user has a hundred installations and no more`() async throws {
        try await withRetrieval { bench in
            for number in 0..<98 {
                #expect(try await bench.install("i\(number)", Self.body("H\(number)")).status == .ok)
            }
            let codes = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 98..<103 {
                    group.addTask { try await bench.install("i\(number)", Self.body("H\(number)")).status.code }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(codes.sorted() == [200, 200, 422, 422, 422])
            #expect(bench.hub.installations.count == 100)
            let refused = try await bench.install("more", Self.body("M"))
            try refused.expectProblem(422)
            #expect((try refused.object()["detail"] as? String)?.contains("Delete one") == true)
            #expect(try await bench.store.installation("more") == nil)
            // Other users, known devices and a reinstalled app are not kept out.
            #expect(try await bench.install("more", Self.body("M"), by: "bob").status == .ok)
            #expect(try await bench.install("i1", Self.body("N")).status == .ok)
            #expect(try await bench.install("reinstalled", Self.body("H2")).status == .ok)
            let deletion = try await bench.request(.delete, "/api/installations/i3", by: try bench.token())
            #expect(deletion.status == .noContent)
            #expect(try await bench.install("next", Self.body("X")).status == .ok)
            try (try await bench.install("after", Self.body("Y"))).expectProblem(422)
        }
    }
}
