import Foundation
import Testing

@testable import SecurePushClient

/// What the app does with a message itself: it fetches, answers and lists it, and the server is told.
@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
    private func id(_ text: String) throws -> PushID { try #require(PushID(text)) }

    @Test func theFirstAnswerCounts() async throws {
        let phone = try await SimulatedPhone()
        let device = try await phone.client.register(PushDevice(platform: .apns, channel: "AB"))
        for id in ["01", "02"] { phone.server.add(id) }
        let first = try id("01")
        try await phone.client.answer(first, action: "approve", text: "yes", challenge: "42")
        let body = ["Action": "approve", "Text": "yes", "Challenge": "42", "DeviceId": device]
        #expect(phone.server.change { $0.answers["01"] } == body)
        // Its result was lost.
        try await phone.client.answer(first, action: "approve", text: "yes", challenge: "42")
        await #expect(throws: AnswerFailure.answeredDifferently) {
            try await phone.client.answer(first, action: "deny")
        }
        let second = try id("02")
        await #expect(throws: AnswerFailure.wrong) { try await phone.client.answer(second, action: "later") }
        await #expect(throws: AnswerFailure.wrong) {
            try await phone.client.answer(second, action: "deny", challenge: "41")
        }
        phone.server.change { $0.items[1].isRevoked = true }
        await #expect(throws: AnswerFailure.over) { try await phone.client.answer(second, action: "deny") }
        phone.server.fail("POST", .error(.unreachable), times: 20)
        await #expect(throws: AnswerFailure.failed(.unreachable)) {
            try await phone.client.answer(second, action: "deny")
        }
    }

    @Test func whatIsAnsweredLeavesTheScreen() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        _ = await phone.push("01")
        #expect(await phone.screen.secrets.count == 1)
        try await phone.client.answer(try id("01"), action: "approve", challenge: "42")
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets.isEmpty)
    }

    @Test func aLostAnswerIsSentAgain() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.fail("POST notifications/01/answer", .response(TransportResponse(status: 503)), times: 2)
        try await phone.client.answer(try id("01"), action: "deny")
        #expect(phone.server.change { $0.answers["01"]?["Action"] } == "deny")
    }

    @Test func theAppGetsTheSecretOfAPush() async throws {
        let phone = try await SimulatedPhone { $0.display = .app }
        for id in ["01", "02"] { phone.server.add(id) }
        phone.server.change { $0.items[1].isRevoked = true }
        let push = { IncomingPush(data: ["secureId": $0]) }
        let secret = try await phone.client.secret(for: push("01"))
        #expect(secret?.text == "secret")
        #expect(try await phone.client.secret(for: push("01")) == nil)
        await #expect(throws: SecurePushFailure(code: .status(410))) { try await phone.client.secret(for: push("02")) }
        await #expect(throws: SecurePushFailure(code: .malformedPush)) {
            try await phone.client.secret(for: IncomingPush(data: [:]))
        }
        // Nothing was shown, and nothing is shown later.
        _ = await phone.client.catchUp()
        #expect(await phone.screen.noticed.isEmpty)
        #expect(await phone.screen.shown.isEmpty)
        await phone.waitForReports()
        #expect(phone.server.change { $0.shown } == ["01"])
    }

    @Test func aForgedPushGivesNoSecret() async throws {
        let phone = try await SimulatedPhone(signer: PushSigner())
        phone.server.add("01")
        await #expect(throws: SecurePushFailure(code: .badSignature)) {
            try await phone.client.secret(for: IncomingPush(data: ["secureId": "01"]))
        }
        #expect(phone.requests.isEmpty)
    }

    @Test func theInboxHasTheSecretsIfTheyAreAskedFor() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01", #"{"Title":"A","Body":"a"}"#)
        phone.server.add("02", #"{"e2e":2}"#)
        let page = try await phone.client.inbox(includesSecrets: true)
        #expect(phone.requests.last == "GET notifications?include=payload&Limit=20")
        #expect(page.entries.map(\.secret?.message?.title) == ["A", nil])
        #expect(page.entries.map(\.code) == [nil, .unopenable])
        #expect(await phone.screen.shown.isEmpty)
    }

    @Test func aGenericTextIsReportedOnceWithItsReason() async throws {
        let phone = try await SimulatedPhone()
        let device = try await phone.client.register(PushDevice(platform: .apns, channel: "AB"))
        phone.server.add("01", #"{"e2e":2}"#)
        phone.server.add("02")
        // One by one, and the second fails for now.
        phone.server.fail("GET notifications?include=payload", .response(.refusal(400)))
        phone.server.fail("GET notifications/02", .response(.refusal(500)), times: 50)
        _ = await phone.client.catchUp()
        let expected = [
            "Text": "generic", "Code": "SP-DECRYPT", "Sdk": "swift/\(SecurePushClient.version)", "DeviceId": device,
        ]
        #expect(phone.server.change { $0.generic }.contains("01 SP-DECRYPT"))
        #expect(phone.server.change { $0.shown }.isEmpty)
        phone.server.change { $0.faults = [] }
        for _ in 0..<2 { _ = await phone.client.catchUp() }
        #expect(phone.server.change { $0.generic }.count { $0.hasPrefix("01") } == 1)
        #expect(phone.server.change { $0.shown } == ["02"])
        phone.server.add("03", #"{"e2e":2}"#)
        _ = await phone.push("03")
        #expect(phone.server.change { $0.lastReport } == expected)
    }

    /// The server could not say which device it is; and it notes nothing of what it does not have.
    @Test func aGenericTextIsReportedByARegisteredDeviceOfWhatTheServerHas() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01", #"{"e2e":2}"#)
        phone.server.add("02")
        phone.server.change { $0.items[1].isRevoked = true }
        for id in ["01", "02"] { _ = await phone.push(id) }
        #expect(await phone.screen.noticed.map(\.code) == [.unopenable, .status(410)])
        #expect(phone.server.change { $0.generic }.isEmpty)
        try await phone.client.register(PushDevice(platform: .apns, channel: "AB"))
        _ = await phone.client.catchUp()
        #expect(phone.server.change { $0.generic } == ["01 SP-DECRYPT"])
    }

    /// A report of an earlier version is the ID alone.
    @Test func reportsOfAnEarlierVersionAreKept() throws {
        let reports = try JSONDecoder().decode([ShownReport].self, from: Data(#"["01"]"#.utf8))
        #expect(reports == [ShownReport(try id("01"))])
        let report = ShownReport(try id("01"), .generic, code: .noKey)
        #expect(try JSONDecoder().decode(ShownReport.self, from: try JSONEncoder().encode(report)) == report)
    }
}
