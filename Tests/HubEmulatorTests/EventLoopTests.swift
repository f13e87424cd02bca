import NIOCore
import NIOPosix
import Testing

@testable import HubEmulator

@Suite struct EventLoopTests {
    @Test func tasksAndTheirChildrenRunOnTheLoops() async throws {
        let executor = EventLoopExecutor(group: MultiThreadedEventLoopGroup.singleton)
        let places = await withTaskExecutorPreference(executor) {
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        await Task.yield()
                        return isOnLoop()
                    }
                }
                return await group.reduce(into: [isOnLoop()]) { $0.append($1) }
            }
        }
        #expect(places.count == 11)
        #expect(places.allSatisfy { $0 })
    }

    @Test func aRequestStaysOnTheLoopThatItCameFrom() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let executor = EventLoopExecutor(group: group)
        let loop = group.next()
        let executed = loop.makePromise(of: Bool.self)
        loop.execute {
            Task(executorPreference: executor) { executed.succeed(loop.inEventLoop) }
        }
        let stayed = try await executed.futureResult.get()
        #expect(stayed)
    }

    @Test func thereIsACoreToRunOn() {
        #if os(Linux)
        let cores = EventLoops.usableCores
        #expect(cores.map { (1...System.coreCount).contains($0) } == true)
        #endif
    }

    private func isOnLoop() -> Bool { MultiThreadedEventLoopGroup.currentEventLoop != nil }
}
