import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// A quorum queue that has no leader (rabbitmq-server issue 10070) is declared and asked for as if nothing were wrong.
@Suite("A queue without a leader", .serialized, .broker, .timeLimit(.minutes(10)))
struct LeaderlessQueueTests {
    @Test func `Ingest and the doctor name the queue with its remedy`() async throws {
        try await withStack { stack in
            let ingest = try await stack.start("ingest")
            try await expectReady(ingest)
            let queue = "securepush.retry.600"
            // It answers nobody, as one without a leader does.
            try await stack.broker.control("eval", "sys:suspend(whereis('%2F_\(queue)')).")
            let isTold = try await eventually(within: .seconds(120)) {
                let answer = try await ingest.request(.GET, "/readyz")
                // Nothing is refused meanwhile: the outbox keeps it.
                return answer.status == 200 && answer.body.contains("no leader: \(queue);")
                    && answer.body.contains("ra:trigger_election({'%2F_\(queue)', node()}).")
            }
            #expect(isTold)
            let doctor = try ProcessUnderTest(
                "securepush", ["doctor"], environment: ["AMQP_URL": stack.broker.url], folder: stack.folder)
            #expect(try await doctor.exitCode(within: .seconds(120)) == 1)
            let said = doctor.standardOutput
            #expect(said.contains("failed        queue \(queue): has no leader"))
            #expect(said.contains("rabbitmqctl eval \"ra:trigger_election({'%2F_\(queue)', node()}).\""))
            #expect(said.contains("ok            queue securepush.retry.120:"))

            try await stack.broker.control("eval", "sys:resume(whereis('%2F_\(queue)')).")
            #expect(try await ingest.isReady())
            try await ingest.drain()
        }
    }
}
