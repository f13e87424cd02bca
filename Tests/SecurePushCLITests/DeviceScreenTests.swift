import Foundation
import SecurePushClient
import Synchronization
import Testing

@testable import SecurePushCLI

/// The reports of a simulated device about its screen. Nothing listens where it looks for the emulator.
@Suite struct DeviceScreenTests {
    private final class Events: Sendable {
        private let all = Mutex<[DeviceEvent]>([])

        var lines: [String] { all.withLock { $0.map(\.line) } }
        func add(_ event: DeviceEvent) { all.withLock { $0.append(event) } }
    }

    private let events = Events()
    private let ids: [PushID]

    init() throws { ids = try ["a", "b"].map { try #require(PushID($0)) } }

    private func screen(countsPrompts: Bool = true) throws -> DeviceScreen {
        let emulator = try APIClient(service: "hub-emulator", url: "http://127.0.0.1:9", timeout: .seconds(1))
        return DeviceScreen(
            handle: "aa", emulator: emulator, countsPrompts: countsPrompts, report: { [events] in events.add($0) })
    }

    private func secret(_ id: PushID) -> SecretNotification { SecretNotification(id: id, text: "x", json: "\"x\"") }

    private func prompt(_ code: DiagnosticCode) -> LogInPrompt {
        LogInPrompt(ids: ids, localizationKey: ClientTexts().logIn, code: code)
    }

    @Test func `A secret is shown, and disappears when it is withdrawn`() async throws {
        let screen = try screen()
        await screen.show(secret(ids[0]))
        #expect(await screen.displayedSecrets() == [ids[0]])
        await screen.remove(ids)
        await screen.remove(ids)
        #expect(await screen.displayedSecrets() == [])
        #expect(events.lines == ["         shows       x", "         removed     a"])
        #expect(screen.takeShown() == 1)
        #expect(screen.takeShown() == 0)
    }

    @Test func `A message is shown with its title, link and actions`() async throws {
        let screen = try screen()
        let json = #"{"Title":"Log-in","Body":"Approve?","Link":"https://a/","Actions":[{"Id":"yes","Title":"Y"}]}"#
        await screen.show(
            SecretNotification(id: ids[0], message: PushMessage(json: Data(json.utf8)), json: json))
        #expect(events.lines == ["         shows       Log-in: Approve?  <https://a/>  [yes]"])
    }

    @Test func `What only the app shows has no reason`() async throws {
        let screen = try screen()
        await screen.show(GenericNotice(id: ids[0], localizationKey: ClientTexts().inApp, code: nil))
        #expect(events.lines == ["         shows       You have a new message. Open the app to read it."])
    }

    @Test(arguments: [
        (DiagnosticCode.loggedOut, "nobody is logged in, SP-LOGIN"),
        (.status(401), "the server answered 401, SP-401"), (.unreachable, "SP-OFFLINE"),
    ])
    func `The prompt has its reason`(code: DiagnosticCode, reason: String) async throws {
        let screen = try screen()
        await screen.show(prompt(code))
        #expect(
            events.lines == ["         shows       You have a new message. Log in to read it.  (\(reason))"])
        #expect(screen.takeShown() == 1)
    }

    @Test func `A prompt does not count before the log-in, and the log-in waits for it`() async throws {
        let screen = try screen(countsPrompts: false)
        await screen.show(prompt(.loggedOut))
        await screen.show(GenericNotice(id: ids[0], localizationKey: "securepush.generic", code: .timedOut))
        #expect(screen.takeShown() == 0)
        var isPrompted = false
        for await _ in screen.prompts {
            isPrompted = true
            break
        }
        #expect(isPrompted)
        await screen.removePrompt()
        await screen.removePrompt()
        #expect(events.lines.last == "         removed     b  (prompt)")
        #expect(events.lines.count == 3)
    }

    @Test func `The session uses what it was given last`() async throws {
        let (old, new) = (ClientCredentials.bearer("old"), ClientCredentials.bearer("new"))
        let session = DeviceSession(user: "alice", credentials: old)
        #expect(try await session.refresh(after: old) == nil)
        session.use(nil)
        #expect(try await session.credentials() == nil)
        #expect(await session.userName() == "alice")
        session.use(new)
        #expect(try await session.refresh(after: old) == new)
    }

    @Test func `All devices count together`() {
        let count = DeviceCount()
        #expect([2, 1, 0].map { count.add($0) } == [2, 3, 3])
    }
}
