import Foundation
import Testing

@testable import SecurePushClient

@Suite(.timeLimit(.minutes(10))) struct RegistrationTests {
    private let device = PushDevice(deviceToken: Data([0x0A, 0xFF]), tags: ["ward:7"])

    private func puts(_ phone: SimulatedPhone) -> Int { phone.requests.filter { $0.hasPrefix("PUT") }.count }

    @Test func theDeviceIsRegisteredOnce() async throws {
        let phone = try await SimulatedPhone()
        let id = try await phone.client.register(device)
        #expect(try await phone.client.register(device) == id)
        #expect(puts(phone) == 1)
        let body = try #require(phone.server.change { $0.installations[id] })
        let document = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        #expect(document?["platform"] as? String == "apns" && document?["pushChannel"] as? String == "0AFF")
        #expect(document?["tags"] as? [String] == ["ward:7"] && document?["installationId"] as? String == id)
        let state = try await phone.store.read()
        #expect(!String(decoding: try JSONEncoder().encode(state), as: UTF8.self).contains("0AFF"))
    }

    @Test func changesAndAgeRenewIt() async throws {
        let phone = try await SimulatedPhone()
        let id = try await phone.client.register(device)
        var other = device
        other.channel = "BB"
        #expect(try await phone.client.register(other) == id)
        #expect(puts(phone) == 2)
        phone.clock.jump(by: 7 * 86_400 + 1)
        #expect(try await phone.client.register(other) == id)
        #expect(puts(phone) == 3)
        // The clock went back, so the age is negative.
        phone.clock.jump(by: -30 * 86_400)
        _ = try await phone.client.register(other)
        #expect(puts(phone) == 4)
        try await phone.credentials.logIn(userName: "bob", token: "token-1")
        _ = try await phone.client.register(other)
        #expect(puts(phone) == 5)
    }

    @Test func registrationsAtTheSameTimeMakeOneInstallation() async throws {
        let phone = try await SimulatedPhone()
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<5 { group.addTask { try await phone.client.register(device) } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1 && phone.server.change { $0.installations.count } == 1)
        #expect(puts(phone) == 1)
    }

    @Test func aLostInstallationGetsANewID() async throws {
        let phone = try await SimulatedPhone()
        let id = try await phone.client.register(device)
        phone.server.change { _ = $0.goneInstallations.insert(id) }
        phone.clock.jump(by: 8 * 86_400)
        let new = try await phone.client.register(device)
        #expect(new != id)
        #expect(phone.server.change { $0.installations[new] } != nil)
    }

    @Test func aServerThatAlwaysRefusesIsAnError() async throws {
        let phone = try await SimulatedPhone()
        phone.server.fail("PUT", .response(TransportResponse(status: 410)), times: 10)
        await #expect(throws: SecurePushFailure(code: .status(410))) { try await phone.client.register(device) }
        #expect(puts(phone) == 1)
    }

    @Test func anInterruptedRegistrationKeepsItsID() async throws {
        let phone = try await SimulatedPhone()
        phone.server.fail("PUT", .error(.untrusted))
        await #expect(throws: SecurePushFailure(code: .untrusted)) { try await phone.client.register(device) }
        let stored = try await phone.store.read().registration.installationID
        #expect(try await phone.client.register(device) == stored?.uuidString.lowercased())
    }

    @Test func unregisteringForgetsTheUser() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        let id = try await phone.client.register(device)
        _ = await phone.push("01")
        try await phone.client.unregister()
        #expect(phone.server.change { $0.installations }.isEmpty)
        #expect(await phone.screen.secrets.isEmpty)
        #expect(await phone.screen.badge == 0)
        // The server cannot tell that the next registration is of the same device.
        #expect(try await phone.client.register(device) != id)
        #expect(puts(phone) == 2)
    }

    @Test func aFailedUnregistrationIsRepeatedAndRegistersAgain() async throws {
        let phone = try await SimulatedPhone()
        let first = try await phone.client.register(device)
        phone.server.fail("DELETE", .error(.untrusted))
        #expect(try await !phone.client.unregister())
        let second = try await phone.client.register(device)
        #expect(puts(phone) == 2 && first != second)
        // The end of a wake removes what is left.
        _ = await phone.client.catchUp()
        #expect(phone.server.change { Array($0.installations.keys) } == [second])
        #expect(try await phone.client.unregister())
        #expect(phone.server.change { $0.installations }.isEmpty)
    }

    @Test func nobodyIsRegisteredWithoutAUser() async throws {
        let phone = try await SimulatedPhone(isLoggedIn: false)
        await #expect(throws: SecurePushFailure(code: .loggedOut)) { try await phone.client.register(device) }
        #expect(phone.requests.isEmpty)
    }
}
