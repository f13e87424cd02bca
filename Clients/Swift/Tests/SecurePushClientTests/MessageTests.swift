import Foundation
import Testing

@testable import SecurePushClient

/// Messages with more than a text, how much of them the system gets, and how long.
@Suite(.timeLimit(.minutes(10))) struct MessageTests {
    private func id(_ text: String) throws -> PushID { try #require(PushID(text)) }

    @Test func allMembersAreRead() throws {
        let json = """
            {"Title":"Log-in","Body":"Approve?","Link":"https://app.example.com/1","Category":"log-in","Thread":"t",
             "Level":"time-sensitive","Actions":[{"Id":"approve","Title":"Approve"},{"Id":"no-2","Title":"No","Input":true}],
             "Data":{"a":[1e400]},"Later":7}
            """
        let message = try #require(PushMessage(json: Data(json.utf8)))
        #expect(message.body == "Approve?" && message.title == "Log-in" && message.link == "https://app.example.com/1")
        #expect(message.category == "log-in" && message.thread == "t" && message.level == .timeSensitive)
        #expect(message.actions.map(\.id) == ["approve", "no-2"] && message.actions.map(\.takesText) == [false, true])
        #expect(message.data == #"{"a":[1e400]}"#)
        #expect(PushMessage(json: Data(#""text""#.utf8)) == PushMessage(body: "text"))
        #expect("\(message)" == "message" && "\(Mirror(reflecting: message).children.count)" == "0")
    }

    @Test(arguments: [
        "7", "null", "[]", "{}", #"{"Title":"x"}"#, #"{"Body":null}"#, #"{"Body":"x","Title":7}"#,
        #"{"Body":"x","Level":"loud"}"#, #"{"Body":"x","Actions":{}}"#, #"{"Body":"x","Actions":[{"Id":"a"}]}"#,
        #"{"Body":"x","Actions":[{"Id":"A","Title":"x"}]}"#, #"{"Body":"x","Actions":[{"Id":"a","Title":""}]}"#,
        #"{"Body":"x","Actions":[{"Id":"a","Title":"x","Input":1}]}"#,
        #"{"Body":"x","Actions":[{"Id":"a","Title":"x"},{"Id":"a","Title":"y"}]}"#, #"{"Body":"x","Body":"y"}"#, "{",
    ])
    func everythingElseIsNoMessage(_ json: String) {
        #expect(PushMessage(json: Data(json.utf8)) == nil)
    }

    @Test func lengthsAreThoseOfBytes() {
        func isMessage(_ name: String, _ length: Int) -> Bool {
            let members = name == "Body" ? "" : #","Body":"x""#
            let text = String(repeating: "x", count: length)
            return PushMessage(json: Data(#"{"\#(name)":"\#(text)"\#(members)}"#.utf8)) != nil
        }
        for (name, most) in [("Title", 200), ("Body", 4_000), ("Link", 2_000), ("Category", 64), ("Thread", 64)] {
            #expect(isMessage(name, most) && !isMessage(name, most + 1), "\(name)")
        }
        let umlauts = String(repeating: "ü", count: 101)
        #expect(PushMessage(json: Data(#"{"Body":"x","Title":"\#(umlauts)"}"#.utf8)) == nil)
    }

    @Test func aMessageIsShown() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01", #"{"Title":"Results","Body":"They are in.","Thread":"lab"}"#)
        _ = await phone.push("01")
        let secret = try #require(await phone.screen.lastSecret)
        #expect(secret.text == "They are in." && secret.message?.title == "Results" && secret.message?.thread == "lab")
    }

    @Test(arguments: DisplayMode.allCases, DisplayMode.allCases)
    func theStricterDisplayHolds(_ wish: DisplayMode, _ own: DisplayMode) async throws {
        for hides in [false, true] {
            let phone = try await SimulatedPhone { $0.display = own }
            if hides { await phone.screen.hideWhileLocked() }
            phone.server.add("01", "\"secret\"", #""Display":"\#(wish.rawValue)""#)
            #expect(await phone.push("01").shown.count == 1)
            let isShown = max(wish, own) == .full || (max(wish, own) == .redacted && hides)
            #expect(await phone.screen.secrets.isEmpty == !isShown)
            #expect(await phone.screen.notices["01"]?.localizationKey == (isShown ? nil : "securepush.in-app"))
            #expect(phone.server.change { $0.shown } == (isShown ? ["01"] : []))
            #expect(phone.server.change { $0.generic } == (isShown ? [] : ["01 -"]))
            #expect(await phone.push("01").shown.isEmpty)
        }
    }

    /// A mode that this version does not know is not weaker than those that it knows.
    @Test func anUnknownDisplayIsTheStrictest() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01", "\"secret\"", #""Display":"never""#)
        _ = await phone.push("01")
        #expect(await phone.screen.secrets.isEmpty)
    }

    @Test func theServerLearnsWhenTheAppHasShownIt() async throws {
        let phone = try await SimulatedPhone { $0.display = .app }
        phone.server.add("01")
        _ = await phone.push("01")
        #expect(phone.server.change { $0.shown }.isEmpty)
        #expect(try await phone.client.read(try id("01")).text == "secret")
        await phone.waitForReports()
        #expect(phone.server.change { $0.shown } == ["01"])
        _ = try await phone.client.read(try id("01"))
        await phone.waitForReports()
        #expect(phone.server.change { $0.shown } == ["01"])
    }

    @Test func theServiceExtensionKeepsToTheDisplay() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01", "\"secret\"", #""Display":"app""#)
        let handler = NotificationServiceHandler(client: phone.client)
        let content = await withCheckedContinuation { continuation in
            handler.didReceive(IncomingPush(data: ["secureId": "01"])) { continuation.resume(returning: $0) }
        }
        let notice = GenericNotice(id: try id("01"), localizationKey: "securepush.in-app", code: nil)
        #expect(content.kind == .generic(notice))
    }

    @Test func whatExpiresGoesFromTheScreen() async throws {
        let phone = try await SimulatedPhone()
        // The phone's clock shows 2027-01-15T08:00:00Z.
        phone.server.add("01", "\"a\"", #""ExpiresAt":"2027-01-15T08:10:00.000Z""#)
        phone.server.add("02", "\"b\"", #""ExpiresAt":"2027-01-15T07:59:59.000Z""#)
        phone.server.add("03", "\"c\"")
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets.keys.sorted() == ["01", "03"])
        #expect(await phone.screen.notices["02"]?.code == .expired)
        await #expect(throws: SecurePushFailure(code: .expired)) { try await phone.client.read(try id("02")) }
        phone.clock.jump(by: 599)
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets.count == 2)
        phone.clock.jump(by: 1)
        _ = await phone.client.catchUp()
        #expect(await phone.screen.secrets.keys.sorted() == ["03"])
    }
}
