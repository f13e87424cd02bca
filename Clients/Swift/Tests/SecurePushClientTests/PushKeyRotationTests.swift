import Foundation
import Testing

@testable import SecurePushClient

/// The server's keys for pushes change while the app stays closed.
@Suite(.timeLimit(.minutes(10))) struct PushKeyRotationTests {
    private let old = PushSigner()
    private let new = PushSigner()

    private func set(_ signers: PushSigner..., member: String = "") -> Data {
        let keys = signers.map { "{\($0.jwkMembers)\(member)}" }
        return Data(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8)
    }

    /// A push that the server has signed now.
    private func push(_ id: String, _ signer: PushSigner, on phone: SimulatedPhone) async throws -> WakeReport {
        let now = String(Int(phone.clock.date.timeIntervalSince1970))
        return await phone.client.handle(push: IncomingPush(data: try signer.members(id, ts: now)))
    }

    private func refreshes(_ phone: SimulatedPhone) -> Int { phone.requests.filter { $0 == "GET push-keys" }.count }

    @Test func aGenuinePushMakesTheDeviceLearnTheNextKey() async throws {
        let phone = try await SimulatedPhone(keys: try old.keys)
        for id in ["01", "02", "03"] { phone.server.add(id) }
        phone.server.change { $0.pushKeys = set(new, old) }
        _ = try await push("01", old, on: phone)
        #expect(refreshes(phone) == 1)
        #expect(try await push("02", new, on: phone).code == nil)
        // The server has removed the old key, and the device notices after an hour.
        phone.server.change { $0.pushKeys = set(new) }
        #expect(try await push("03", old, on: phone).code == nil)
        #expect(refreshes(phone) == 1)
        phone.clock.jump(by: 3_601)
        #expect(try await push("03", old, on: phone).code == nil)
        #expect(refreshes(phone) == 2)
        #expect(try await push("03", old, on: phone).code == .badSignature)
        #expect(try await push("03", new, on: phone).code == nil)
        #expect(refreshes(phone) == 2)
    }

    /// The server had to replace its key at once, and the app is not opened.
    @Test func aPushOfAnUnknownKeyMakesTheDeviceAskOnceAnHour() async throws {
        let phone = try await SimulatedPhone(keys: try old.keys)
        for id in ["01", "02"] { phone.server.add(id) }
        phone.server.change { $0.pushKeys = set(old) }
        for _ in 0..<5 { #expect(try await push("01", new, on: phone).code == .badSignature) }
        // Others, whose signature cannot be one, are not worth a question.
        phone.clock.jump(by: 3_601)
        for sig in ["", "AAAA", "="] {
            let forged = IncomingPush(data: ["secureId": "01", "ts": "1800003601", "sig": sig])
            #expect(await phone.client.handle(push: forged).code == .badSignature)
        }
        #expect(phone.requests == ["GET push-keys"])
        phone.server.change { $0.pushKeys = set(new) }
        #expect(try await push("01", new, on: phone).shown.map(\.rawValue) == ["01", "02"])
        #expect(refreshes(phone) == 2)
        #expect(try await push("02", old, on: phone).code == .badSignature)
        #expect(refreshes(phone) == 2)
        let asked = phone.server.change { state in
            state.requests.filter { $0.url.path.hasSuffix("push-keys") }.compactMap { $0.headers["Authorization"] }
        }
        #expect(asked.isEmpty)
    }

    /// A server that does not answer is asked as rarely.
    @Test func aFailedQuestionCounts() async throws {
        let phone = try await SimulatedPhone(keys: try old.keys)
        phone.server.change { $0.pushKeys = set(new) }
        phone.server.fail("GET push-keys", .error(.unreachable), times: 50)
        for _ in 0..<3 { #expect(try await push("01", new, on: phone).code == .badSignature) }
        #expect(refreshes(phone) == 1)
        phone.server.change { $0.faults = [] }
        phone.clock.jump(by: 3_601)
        #expect(try await push("01", new, on: phone).code == .status(404))
    }

    @Test func aCatchUpMakesTheDeviceLearnTheNextKey() async throws {
        let phone = try await SimulatedPhone(keys: try old.keys)
        phone.server.change { $0.pushKeys = set(new) }
        _ = await phone.client.catchUp()
        #expect(try await push("01", new, on: phone).code != .badSignature)
        // The clock went back, so the age is negative.
        phone.clock.jump(by: -86_400)
        _ = await phone.client.catchUp()
        #expect(refreshes(phone) == 2)
    }

    @Test(arguments: ["alert", "log-in"])
    func aServiceExtensionLearnsTheNextKey(_ wake: String) async throws {
        let phone = try await SimulatedPhone(keys: try old.keys, isLoggedIn: wake == "alert")
        if wake == "log-in" { try await phone.store.update { $0.owner = "alice" } }
        phone.server.add("01")
        phone.server.change { $0.pushKeys = set(new) }
        let members = try old.members("01", ts: "1800000000")
        let handler = NotificationServiceHandler(client: phone.client)
        // The system may suspend the extension after the completion.
        let count: Int = await withCheckedContinuation { continuation in
            handler.didReceive(IncomingPush(data: members)) { _ in continuation.resume(returning: refreshes(phone)) }
        }
        #expect(count == 1)
    }

    /// Private members, no key that can be used, no JSON, too long.
    @Test func anUnusableSetReplacesNothing() async throws {
        let long = set(new) + Data(repeating: UInt8(ascii: " "), count: PushKeySet.maxBytes)
        let sets = [
            set(new, member: #","d":"AAAA""#), set(new, member: #","d":7"#), set(new, member: #","k":"AAAA""#), set(),
            Data(), Data("{}".utf8), Data("<html>".utf8), long,
        ]
        for unusable in sets {
            let phone = try await SimulatedPhone(keys: try old.keys)
            phone.server.change { $0.pushKeys = unusable }
            for _ in 0..<2 { #expect(try await push("01", old, on: phone).code == .status(404)) }
            // It is asked for again at the next wake.
            #expect(refreshes(phone) == 2)
            #expect(try await push("01", new, on: phone).code == .badSignature)
            #expect(refreshes(phone) == 3)
        }
    }

    @Test(arguments: [302, 403, 404, 500, 503])
    func aRefusalReplacesNothing(_ status: Int) async throws {
        let phone = try await SimulatedPhone(keys: try old.keys)
        phone.server.change { $0.pushKeys = set(new, old) }
        _ = await phone.client.catchUp()
        phone.clock.jump(by: 3_601)
        phone.server.fail("GET push-keys", .response(TransportResponse(status: status)))
        let begin = phone.clock.uptime
        _ = await phone.client.catchUp()
        #expect(refreshes(phone) == 2)
        // The next wake tries again, so this one does not.
        #expect(phone.clock.uptime == begin)
        #expect(try await push("01", new, on: phone).code == .status(404))
        #expect(refreshes(phone) == 3)
    }

    @Test func aServerThatHangsDelaysAWakeForAShortTime() async throws {
        let phone = try await SimulatedPhone(keys: try old.keys)
        phone.server.fail("GET push-keys", .hang, times: 50)
        _ = await phone.client.catchUp()
        #expect(phone.clock.uptime <= 5)
        #expect(refreshes(phone) == 1)
        phone.server.fail("GET notifications", .hang, times: 50)
        let begin = phone.clock.uptime
        _ = await phone.client.catchUp()
        #expect(phone.clock.uptime - begin <= 25)
    }

    @Test func wakesAtTheSameTimeAskOnce() async throws {
        let phone = try await SimulatedPhone(keys: try old.keys)
        phone.server.change { $0.pushKeys = set(new, old) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = await phone.client.catchUp() } }
        }
        #expect(refreshes(phone) == 1)
    }

    @Test(arguments: [false, true])
    func aDeviceThatDoesNotRefreshKeepsItsKeys(_ hasKeys: Bool) async throws {
        let phone = try await SimulatedPhone(keys: hasKeys ? try old.keys : nil) {
            if hasKeys { $0.refreshesPushKeys = false }
        }
        phone.server.change { $0.pushKeys = set(new) }
        _ = await phone.client.catchUp()
        #expect(refreshes(phone) == 0)
        #expect(try await push("01", old, on: phone).code == .status(404))
        if hasKeys { #expect(try await push("01", new, on: phone).code == .badSignature) }
        #expect(refreshes(phone) == 0)
    }
}
