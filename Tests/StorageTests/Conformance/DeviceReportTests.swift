import Domain
import Foundations
import Storage
import TestSupport
import Testing

/// What devices have shown.
@Suite(.stores) struct DeviceReportTests {
    private static let secret = DeviceReport(text: .secret, sdk: "swift/0.2.0")
    private static let generic = DeviceReport(text: .generic, code: "SP-KEY", sdk: "web/0.2.0")

    private func save(_ store: any Store, _ id: String, of owner: UserName = .alice) async throws {
        try await store.save(
            Installation(
                id: id, owner: owner, platform: .apple, handle: id, document: Array("{}".utf8), updatedAt: noon))
    }

    @Test(arguments: conformingStores)
    func `A device has one report, the last, and only if it is the user's own`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        try await save(store, "Phone")
        try await save(store, "other", of: .bob)
        for device in ["other", "nothing"] {
            let platform = try await store.report(
                Self.secret, of: sent.id, by: device, owner: .alice, now: noon)
            #expect(platform == nil)
        }
        #expect(try await store.shownDevices(of: sent.id, limit: 9).isEmpty)
        for (number, report) in [Self.secret, Self.generic].enumerated() {
            let time = noon + .seconds(number)
            let platform = try await store.report(report, of: sent.id, by: "pHONE", owner: .alice, now: time)
            #expect(platform == "apple")
            let shown = ShownDevice(deviceID: "Phone", platform: "apple", shownAt: time, report: report)
            #expect(try await store.shownDevices(of: sent.id, limit: 9) == [shown])
        }
        #expect(try await store.shownDevices(of: NotificationID(), limit: 9).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `The newest are listed, and no more are stored than the maximum`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        for number in 0..<ShownDevice.maxStored + 2 {
            try await save(store, "d-\(number)")
            let platform = try await store.report(
                Self.secret, of: sent.id, by: "d-\(number)", owner: .alice, now: noon + .seconds(number))
            #expect(platform == "apple")
        }
        let all = try await store.shownDevices(of: sent.id, limit: 999)
        #expect(all.map(\.deviceID) == (0..<ShownDevice.maxStored).reversed().map { "d-\($0)" })
        #expect(try await store.shownDevices(of: sent.id, limit: 2) == Array(all.prefix(2)))
        #expect(try await store.shownDevices(of: sent.id, limit: -1).isEmpty)
        // A device that has one may still replace it.
        _ = try await store.report(Self.generic, of: sent.id, by: "d-0", owner: .alice, now: noon + .seconds(999))
        #expect(try await store.shownDevices(of: sent.id, limit: 1).map(\.report) == [Self.generic])
    }

    @Test(arguments: conformingStores)
    func `Generic texts are counted by reason, SDK and platform`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(3)
        try await store.append(sent)
        for id in ["a", "b"] { try await save(store, id) }
        for (number, one) in sent.enumerated() {
            for device in ["a", "b"] {
                let report = device == "a" || number == 0 ? Self.generic : Self.secret
                let time = noon + .seconds(number)
                _ = try await store.report(report, of: one.id, by: device, owner: .alice, now: time)
            }
        }
        let bare = DeviceReport(text: .generic)
        _ = try await store.report(bare, of: sent[2].id, by: "b", owner: .alice, now: noon + .seconds(9))
        let counts = try await store.genericTexts(since: noon - .seconds(1))
        let expected = [
            GenericTextCount(
                code: "SP-KEY", sdk: "web/0.2.0", platform: "apple", notifications: 3, devices: 2,
                newest: noon + .seconds(2)),
            GenericTextCount(
                code: nil, sdk: nil, platform: "apple", notifications: 1, devices: 1, newest: noon + .seconds(9)),
        ]
        #expect(counts == expected)
        #expect(try await store.genericTexts(since: noon + .seconds(2)) == [expected[1]])
    }

    @Test(arguments: conformingStores)
    func `A report goes with its notification`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        try await save(store, "a")
        _ = try await store.report(Self.generic, of: sent.id, by: "a", owner: .alice, now: noon)
        // The first purge destroys the payload, the second one removes the rows.
        let end = sent.notification.expiresAt + RetentionPolicy.tombstone + .seconds(1)
        for _ in 0..<2 { _ = try await store.purge(limit: 9, now: end) }
        #expect(try await store.find(sent.id, recipient: .alice) == nil)
        #expect(try await store.shownDevices(of: sent.id, limit: 9).isEmpty)
        #expect(try await store.genericTexts(since: noon - .seconds(1)).isEmpty)
    }
}
