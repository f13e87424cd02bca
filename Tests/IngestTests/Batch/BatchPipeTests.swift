import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite(.timeLimit(.minutes(5)))
struct BatchPipeTests {
    @Test func `Everything comes through in order`() async {
        let pipe = BatchPipe<Int>(limit: 7)
        async let sent: Void = {
            for number in 0..<1000 { #expect(await pipe.send([number], weight: 1)) }
            pipe.finish()
        }()
        var received: [Int] = []
        while let group = await pipe.receive() {
            #expect(!group.isEmpty && group.count <= 7)
            received += group
        }
        await sent
        #expect(received == Array(0..<1000))
    }

    @Test func `What has come is given at once and together`() async {
        let pipe = BatchPipe<Int>(limit: 10)
        #expect(await pipe.send([1], weight: 1))
        #expect(await pipe.send([2, 3], weight: 2))
        #expect(await pipe.receive() == [1, 2, 3])
        pipe.finish()
        #expect(await pipe.receive() == nil)
    }

    @Test func `A full pipe holds its sender`() async throws {
        let pipe = BatchPipe<Int>(limit: 2)
        #expect(await pipe.send([1], weight: 5))
        let progress = Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                progress.set(1)
                _ = await pipe.send([2], weight: 1)
                progress.set(2)
            }
            let isAtWork = try await eventually { progress.value >= 1 }
            #expect(isAtWork)
            for _ in 0..<100 { await Task.yield() }
            #expect(progress.value == 1)
            #expect(await pipe.receive() == [1])
            #expect(await pipe.receive() == [2])
        }
        #expect(progress.value == 2)
    }

    @Test func `Cancellation ends both sides`() async {
        let empty = BatchPipe<Int>(limit: 1), full = BatchPipe<Int>(limit: 1)
        _ = await full.send([1], weight: 1)
        let receiver = Task { await empty.receive() }
        let sender = Task { await full.send([2], weight: 1) }
        for _ in 0..<100 { await Task.yield() }
        receiver.cancel()
        sender.cancel()
        #expect(await receiver.value == nil)
        #expect(await sender.value == false)
        // What was sent before stays.
        #expect(await full.receive() == [1])
    }
}

/// How far a task has come.
private final class Progress: Sendable {
    private let step = Mutex(0)

    var value: Int { step.withLock { $0 } }

    func set(_ value: Int) { step.withLock { $0 = value } }
}
