import Domain
import Testing

@testable import Storage

extension SQLStore {
    /// Each statement of the device ports, at least once.
    func useDevices() async throws {
        let installation = Installation(
            id: "I", owner: .alice, platform: .apple, handle: "h", document: [7], updatedAt: noon)
        let claim = DeviceLease.Condition.claimed(by: installation, handles: ["h"])
        guard case .leased(let first) = try await lease(.installation, "I", if: claim, now: noon),
            case .leased(let second) = try await lease(.registration, "r", if: .new(for: .alice), now: noon)
        else { return #expect(Bool(false)) }
        #expect(try await setPlaces([DevicePlace(hub: "a")], of: first))
        try await expire(first, now: noon)
        let registration = Registration(id: "r", owner: .alice, platform: .apns, handle: "h", updatedAt: noon)
        #expect(try await end(first, .saveInstallation(installation, handles: ["h"]), now: noon))
        #expect(try await end(second, .saveRegistration(registration, handles: ["h"]), now: noon))
        let key = try #require(EncryptionKey(point: ES256Key().publicPoint))
        #expect(try await setEncryptionKey(key, of: "i", owner: .alice, notifies: true, now: noon))
        #expect(try await leaseNewHandle(now: noon, until: due) == "h")
        #expect(try await leaseNewHandle(now: noon, until: due) == "h")
        try await settleNewHandle(["h"])
        for (kind, id) in [(DeviceLease.Kind.installation, "i"), (.registration, "R")] {
            guard case .leased(let lease) = try await self.lease(kind, id, if: .any, now: noon) else { continue }
            #expect(try await end(lease, .remove, now: noon))
        }
        try await findDevices()
    }

    private func findDevices() async throws {
        _ = try await installation("i")
        _ = try await installations(handle: "h")
        _ = try await installations(after: nil, limit: 9)
        _ = try await installations(of: .alice, after: nil, limit: 9)
        _ = try await registration("r")
        _ = try await registration("r", owner: .alice)
        _ = try await registrations(handle: "h")
        _ = try await registrations(after: nil, limit: 9)
        _ = try await platforms(of: [.alice, .bob])
        _ = try await devices(of: .alice, limit: 9)
        _ = try await dueDevices(unseenSince: noon, limit: 9, now: noon)
        _ = try await expiredLeases(limit: 9, now: noon)
        _ = try await encryptionKeys(of: .alice, limit: 9)
        _ = try await deviceCount(of: .alice)
        _ = try await places(of: .installation, ["i"])
        for kind in DeviceLease.Kind.allCases {
            _ = try await placesWithoutDevice(of: kind, after: nil, limit: 9)
        }
    }

    /// The same of the port of refresh tokens.
    func useRefreshTokens() async throws {
        let id = [UInt8](repeating: 7, count: 16)
        let family = RefreshFamily(id: id, owner: .alice, userEntry: "e", tokenHash: [1], expiresAt: due)
        try await add(family)
        #expect(try await refreshFamily(id) == family)
        #expect(try await renew(family, replacing: [1], now: noon))
        #expect(try await purgeRefreshFamilies(limit: 5, now: due) == 1)
        try await removeRefreshFamily(id)
    }
}
