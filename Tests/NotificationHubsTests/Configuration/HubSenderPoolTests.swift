import Domain
import Foundation
import Foundations
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import NotificationHubs

@Suite struct HubSenderPoolTests {
    /// The file of one hub, in a version of its own for each number.
    private static func write(_ number: Int, _ port: Int, to path: String) throws {
        let rule = "Rule" + String(repeating: "x", count: number)
        let connection = "Endpoint=http://127.0.0.1:\(port)/;SharedAccessKeyName=\(rule);SharedAccessKey=key="
        try Data("hub-a \(connection)\n".utf8).write(to: URL(filePath: path))
    }

    /// A sender holds a key and connections.
    @Test func `A sender that left ends its requests and is released`() async throws {
        let script: FakeHub.Script = { request in [.wait(.milliseconds(20)), FakeHub.created("M-\(request.number)")] }
        try await withFakeHub(script) { hub in
            let path = FileManager.default.temporaryDirectory.appending(path: "hubs-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            try Self.write(0, hub.port, to: path)
            let file = try HubPoolFile(HubPoolSettings(path: path), logger: Logger(label: "test"))
            let pool = HubSenderPool(file: file, concurrency: 4, logger: Logger(label: "test"), leaving: .seconds(2))
            let outcomes = Mutex<[SendOutcome]>([])
            try await withService(pool) { _ in
                for number in 1...6 {
                    pool.send(.sample) { outcome in outcomes.withLock { $0.append(outcome) } }
                    try await expectEventually { hub.requests.count == number }
                    // The request is at the hub, or has just been answered.
                    try Self.write(number, hub.port, to: path)
                    try await pool.source.reload()
                    _ = pool.table
                }
                try await expectEventually { outcomes.withLock { $0.count } == 6 }
                try await expectEventually { pool.senderCount == 1 }
                // The last one is in use.
                pool.send(.sample) { outcome in outcomes.withLock { $0.append(outcome) } }
                try await expectEventually { outcomes.withLock { $0.count } == 7 }
                #expect(pool.senderCount == 1)
            }
            #expect(outcomes.withLock { $0.allSatisfy(\.isSent) }, "\(outcomes.withLock { $0 })")
            #expect(hub.requests.count == 7)
        }
    }
}
