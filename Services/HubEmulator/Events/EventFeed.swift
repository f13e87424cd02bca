import Foundation
import Synchronization

/// The live feed of the page: everything that happens, to everyone who listens. Costs nothing while nobody does.
final class EventFeed: Sendable {
    enum Event: String, Sendable {
        case record, device, display, faults, cleared
    }

    /// A slow reader loses the oldest events rather than holding memory.
    private static let bufferedEvents = 1000

    private let listeners = Mutex<[Int: AsyncStream<ServerSentEvent>.Continuation]>([:])
    private let nextID = Atomic<Int>(0)
    private let count = Atomic<Int>(0)

    func publish(_ event: Event, _ value: @autoclosure () -> some Encodable) {
        guard count.load(ordering: .relaxed) > 0, let data = try? EmulatorJSON.encode(value()) else { return }
        let message = ServerSentEvent(event: event.rawValue, data: data)
        listeners.withLock { listeners in
            for listener in listeners.values { listener.yield(message) }
        }
    }

    func listen() -> AsyncStream<ServerSentEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ServerSentEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        let id = nextID.add(1, ordering: .relaxed).newValue
        listeners.withLock { $0[id] = continuation }
        count.add(1, ordering: .relaxed)
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    private func remove(_ id: Int) {
        guard listeners.withLock({ $0.removeValue(forKey: id) }) != nil else { return }
        count.subtract(1, ordering: .relaxed)
    }
}
