import Foundation
import Testing

@testable import SecurePushClient

@Suite(.timeLimit(.minutes(10))) struct WakeTests {
    @Test func aPushShowsItsSecretOnceAndTellsTheServer() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01", "\"Your results are in.\"")
        let report = await phone.push("01")
        #expect(report.result == .newData && report.shown.map(\.rawValue) == ["01"])
        #expect(await phone.screen.secrets == ["01": "Your results are in."])
        #expect(await phone.screen.badge == 0)
        #expect(phone.server.change { $0.shown } == ["01"])
        // Again: nothing is fetched and nothing is shown.
        #expect(await phone.push("01").result == .noData)
        #expect(await phone.screen.shown == ["01"])
        #expect(phone.requests.filter { $0.hasPrefix("GET notifications/01") }.count == 1)
    }

    @Test func aRestartDoesNotShowASecretAgain() async throws {
        let store = MemoryClientStore()
        let first = try await SimulatedPhone(store: store)
        first.server.add("01")
        _ = await first.push("01")
        let second = try await SimulatedPhone(store: store, isLoggedIn: false, sharing: first)
        #expect(await second.push("01").shown.isEmpty)
        #expect(await second.screen.shown.isEmpty)
    }

    @Test func aPayloadThatIsNoMessageIsForTheApp() async throws {
        let phone = try await SimulatedPhone()
        let json = #"{"a": [1e400, 12345678901234567890123]}"#
        phone.server.add("01", json)
        let id = try #require(PushID("01"))
        #expect(await phone.push("01").shown == [id])
        let notice = GenericNotice(id: id, localizationKey: "securepush.in-app", code: nil)
        #expect(await phone.screen.noticed == [notice])
        #expect(try await phone.client.read(id).json == json)
        // It is not shown again.
        #expect(await phone.push("01").shown.isEmpty)
        #expect(await phone.screen.noticed.count == 1)
    }

    @Test func missedNotificationsAreFetchedOnEveryWake() async throws {
        let phone = try await SimulatedPhone()
        for id in ["01", "02", "03", "04"] { phone.server.add(id) }
        let report = await phone.push("03")
        #expect(Set(report.shown.map(\.rawValue)) == ["01", "02", "03", "04"])
        #expect(await phone.screen.shown.count == 4)
        #expect(await phone.screen.badge == 0)
        // The next wake asks for newer notifications.
        phone.server.add("05")
        phone.server.add("06")
        #expect(await phone.client.catchUp().shown.map(\.rawValue) == ["05", "06"])
        #expect(
            phone.requests.last { $0.contains("Limit=200") && !$0.contains("Unread") }?.contains("After=04") == true)
    }

    @Test func manyMissedNotificationsTakeFewRequests() async throws {
        let phone = try await SimulatedPhone()
        for number in 100..<150 { phone.server.add("\(number)") }
        let report = await phone.client.catchUp()
        #expect(report.shown.count == 50)
        #expect(phone.requests.filter { $0.hasPrefix("GET notifications?include=payload") }.count == 3)
        #expect(!phone.requests.contains { $0.hasPrefix("GET notifications/") })
    }

    @Test func aServerWithoutPayloadPagesIsAskedOneByOne() async throws {
        let phone = try await SimulatedPhone()
        phone.server.change { $0.supportsPayloadPages = false }
        for number in 100..<110 { phone.server.add("\(number)") }
        #expect(await phone.client.catchUp().shown.count == 10)
    }

    @Test func whatWasReadOnAnotherDeviceIsShownHereToo() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        _ = await phone.push("01")
        phone.server.add("02")
        phone.server.change { $0.items[1].isRead = true }
        #expect(await phone.client.catchUp().shown.map(\.rawValue) == ["02"])
    }

    /// A notification with `NotBefore` has an older ID than those that were seen meanwhile.
    @Test func aDelayedNotificationIsFoundBehindTheCursor() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01", isHidden: true)
        phone.server.add("02")
        _ = await phone.push("02")
        phone.server.change { $0.items[0].isHidden = false }
        #expect(await phone.client.catchUp().shown.map(\.rawValue) == ["01"])
    }

    /// The server marks a page with payloads as read. The notification is then neither unread nor behind the cursor.
    @Test func aNotificationThatBecomesVisibleBeforeThePayloadPageIsShown() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("00")
        _ = await phone.push("00")
        phone.server.add("01")
        phone.server.add("02", isHidden: true)
        phone.server.add("03")
        let server = phone.server
        server.fail("GET notifications?include=payload", .meanwhile { server.change { $0.items[2].isHidden = false } })
        #expect(await phone.client.catchUp().shown.map(\.rawValue) == ["01", "02", "03"])
        _ = await phone.client.catchUp()
        #expect(await phone.screen.shown == ["00", "01", "02", "03"])
    }

    @Test func oneWakeShowsABoundedNumber() async throws {
        let phone = try await SimulatedPhone { $0.limits.maxShownPerWake = 30 }
        for number in 100..<200 { phone.server.add("\(number)") }
        let first = await phone.client.catchUp()
        #expect((30..<60).contains(first.shown.count))
        for _ in 0..<5 { _ = await phone.client.catchUp() }
        #expect(await phone.screen.shown.count == 100)
    }

    @Test func pushesAtTheSameTimeShareOneLookIntoTheInbox() async throws {
        let phone = try await SimulatedPhone()
        let gate = Gate()
        for number in 100..<150 {
            phone.server.add("\(number)")
            phone.server.fail("GET notifications/\(number)", .meanwhile { await gate.wait() })
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 100..<150 { group.addTask { _ = await phone.push("\(number)") } }
            while phone.requests.count < 50, !Task.isCancelled { await Task.yield() }
            await gate.open()
        }
        let shown = await phone.screen.shown
        #expect(shown.count == 50 && Set(shown).count == 50)
        #expect(phone.requests.filter { $0.hasPrefix("GET notifications?") }.count == 1)
    }

    @Test func pushesAtTheSameTimeReportEachSecretOnce() async throws {
        let phone = try await SimulatedPhone()
        for number in 100..<120 { phone.server.add("\(number)") }
        await withTaskGroup(of: Void.self) { group in
            for number in 100..<120 { group.addTask { _ = await phone.push("\(number)") } }
        }
        _ = await phone.client.catchUp()
        #expect(phone.server.change { $0.shown.sorted() } == (100..<120).map(String.init))
    }

    @Test func oneThatAlwaysFailsDoesNotKeepTheOthersWaiting() async throws {
        let phone = try await SimulatedPhone()
        phone.server.change { $0.supportsPayloadPages = false }
        for id in ["01", "02", "03"] { phone.server.add(id) }
        phone.server.fail("GET notifications/01", .response(TransportResponse(status: 500)), times: 1_000)
        let report = await phone.client.catchUp()
        #expect(report.shown.map(\.rawValue) == ["02", "03"] && report.code == .status(500))
        #expect(phone.clock.uptime <= 25)
        phone.server.add("04")
        #expect(await phone.client.catchUp().shown.map(\.rawValue) == ["04"])
    }

    @Test func theSamePushManyTimesAtOnceIsShownOnce() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = await phone.push("01") } }
        }
        #expect(await phone.screen.shown == ["01"])
    }

    @Test func aSecretThatTheSystemRefusesIsShownAtTheNextWake() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        await phone.screen.failNext(2)
        #expect(await phone.push("01").code == .notPresented)
        #expect(await phone.screen.notices["01"]?.code == .notPresented)
        #expect(await phone.client.catchUp().shown.map(\.rawValue) == ["01"])
        #expect(await phone.screen.notices.isEmpty)
    }

    @Test func markingAsReadRemovesAndCounts() async throws {
        let phone = try await SimulatedPhone()
        phone.server.add("01")
        phone.server.add("02")
        _ = await phone.push("01")
        try await phone.client.markAsRead([try #require(PushID("01"))])
        #expect(await phone.screen.secrets["01"] == nil)
        let body = phone.server.change { state in state.requests.last { $0.method == "POST" && $0.body != nil }?.body }
        #expect(body.map { String(decoding: $0, as: UTF8.self) } == #"{"Ids":["01"]}"#)
        try await phone.client.markAsRead(through: try #require(PushID("02")))
    }
}
