import Foundation
import Synchronization

/// The live feed of the page: everything that happens, to everyone who listens. Costs nothing while nobody does.
final class EventFeed: Sendable {
    enum Event: String, Sendable {
        case record, device, display, faults, cleared
    }

    /// How many may listen at once; each holds at most ``EventQueue/maxBytes``.
    static let maxListeners = 256

    private let listeners = Mutex<[Int: EventQueue]>([:])
    private let nextID = Atomic<Int>(0)
    private let count = Atomic<Int>(0)

    /// What waits for each listener.
    var queues: [EventQueue] { listeners.withLock { Array($0.values) } }

    var hasRoom: Bool { count.load(ordering: .relaxed) < Self.maxListeners }

    func publish(_ event: Event, _ value: @autoclosure () -> some Encodable) {
        guard count.load(ordering: .relaxed) > 0, let data = try? EmulatorJSON.encode(value()) else { return }
        let message = ServerSentEvent(event: event.rawValue, data: data).buffer
        listeners.withLock { listeners in
            for listener in listeners.values { listener.put(message) }
        }
    }

    /// - Returns: a queue of what happens from now on; it is finished already when too many listen.
    func listen() -> EventQueue {
        let id = nextID.add(1, ordering: .relaxed).newValue
        let queue = EventQueue { [weak self] in self?.remove(id) }
        let isTaken = listeners.withLock { listeners in
            guard listeners.count < Self.maxListeners else { return false }
            listeners[id] = queue
            return true
        }
        if isTaken { count.add(1, ordering: .relaxed) } else { queue.finish() }
        return queue
    }

    private func remove(_ id: Int) {
        guard listeners.withLock({ $0.removeValue(forKey: id) }) != nil else { return }
        count.subtract(1, ordering: .relaxed)
    }
}
