import Foundations
import StackKit
import TestSupport
import Testing

@testable import Hub

/// Credentials for another environment, app or project make all addresses wrong. They must not erase the devices
/// (contract-hub, K4).
@Suite(.timeLimit(.minutes(5))) struct WrongEnvironmentTests {
    @Test(arguments: RealPlatform.Mistake.allCases)
    func `Many wrong addresses stop the removing, until the credentials change`(
        mistake: RealPlatform.Mistake
    ) async throws {
        try await withRealHub(mistake.kind) { hub, platform in
            let count = 120
            try await hub.install(try await platform.devices(count, mistake), platform, tag: "t")
            #expect(try await hub.send(platform, tag: "t") == [mistake.outcome: count])
            let left = try await hub.deviceCount()
            // Nothing is concluded of fewer answers than 50.
            #expect(left > count - RemovalGuard.minAnswers && left < count)
            #expect(hub.state.lanes.reports.map(\.areRemovalsSuspended) == [true])
            #expect(try await hub.readiness().contains("too many devices of \(platform.format.rawValue) of hub app"))
            // The platform is pushed to all the same.
            #expect(try await hub.send(platform, tag: "t") == [mistake.outcome: left])
            #expect(try await hub.deviceCount() == left)

            try TestHub.write(try await platform.credentials(2), to: hub.credentialsFile)
            try await expectEventually { hub.state.lanes.problems.isEmpty }
            #expect(hub.state.lanes.reports.map(\.areRemovalsSuspended) == [false])
            let good = try await platform.devices(3)
            try await hub.install(good + platform.devices(1, mistake), platform, tag: "new")
            #expect(try await hub.send(platform, tag: "new") == ["Success": 3, mistake.outcome: 1])
            #expect(try await hub.deviceCount() == left + 3)
        }
    }

    @Test(arguments: [RealPlatform.Mistake.environment, .project, .app])
    func `Few wrong addresses among many good ones are removed`(mistake: RealPlatform.Mistake) async throws {
        try await withRealHub(mistake.kind) { hub, platform in
            let good = try await platform.devices(60)
            try await hub.install(good, platform, tag: "t")
            #expect(try await hub.send(platform, tag: "t") == ["Success": 60])
            try await hub.install(try await platform.devices(10, mistake), platform, tag: "wrong")
            #expect(try await hub.send(platform, tag: "wrong") == [mistake.outcome: 10])
            #expect(try await hub.deviceCount() == 60)
            #expect(hub.state.lanes.problems.isEmpty)
        }
    }

    @Test(arguments: [FakePushService.Kind.apns, .fcm, .wns])
    func `Credentials that end pause the platform, remove nothing, and others are in force at once`(
        kind: FakePushService.Kind
    ) async throws {
        try await withRealHub(kind) { hub, platform in
            try await hub.install(try await platform.devices(5), platform, tag: "t")
            // In a name, so that a failure tells the outcomes.
            let outcomes = try await hub.send(platform, tag: "t")
            #expect(outcomes == ["Success": 5])
            // The operator of the push service takes them back.
            let next = try await platform.credentials(2)
            if kind != .apns { try await platform.service.expireTokens() }
            let refused = try await hub.send(platform, tag: "t")
            #expect(refused == ["Unknown": 5])
            #expect(hub.state.lanes.reports.map(\.state) == [.paused])
            #expect(try await hub.readiness().contains("refuses the credentials of \(platform.format.rawValue)"))
            #expect(try await hub.deviceCount() == 5)
            try TestHub.write(next, to: hub.credentialsFile)
            try await expectEventually { hub.state.lanes.problems.isEmpty }
            #expect(try await hub.send(platform, tag: "t") == ["Success": 5])
            #expect(try await hub.deviceCount() == 5)
        }
    }

    @Test(arguments: [FakePushService.Kind.fcm, .wns])
    func `An access token that ends early is fetched again, and no push notices`(
        kind: FakePushService.Kind
    ) async throws {
        try await withRealHub(kind) { hub, platform in
            try await hub.install(try await platform.devices(20), platform, tag: "t")
            #expect(try await hub.send(platform, tag: "t") == ["Success": 20])
            try await platform.service.expireTokens()
            #expect(try await hub.send(platform, tag: "t") == ["Success": 20])
        }
    }
}
