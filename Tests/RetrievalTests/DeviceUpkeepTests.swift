import APITestSupport
import HTTPTypes
import HummingbirdTesting
import ServiceLifecycle
import StackKit
import TestSupport
import Testing

@testable import Retrieval

@Suite("Devices: what is done beside requests")
struct DeviceUpkeepTests {
    @Test func `The service searches and reconciles until shutdown`() async throws {
        try await withRetrieval { bench in
            bench.hub.plant("past-us", FakeHub.Installed(handle: "H", document: "{}"))
            #expect(try await bench.install("1", #"{"platform":"apns","pushChannel":"H"}"#).status == .ok)
            bench.hub.loseAnswers(ofPuts: 1)
            try (try await bench.install("1", #"{"platform":"apns","pushChannel":"J"}"#)).expectProblem(503)
            let services = ServiceGroup(
                services: deviceSweeps(bench.changes, logger: .silent), gracefulShutdownSignals: [],
                logger: .silent)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await services.run() }
                let isDone = try await eventually {
                    bench.hub.installations["past-us"] == nil && bench.hub.installations["1"]?.handle == "H"
                }
                #expect(isDone, "\(bench.hub.installations)")
                await services.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }
}
