import Domain
import Foundations
import Storage
import TestSupport
import Testing

/// The diagram of a device's lease in docs/reference/notification-states.md has the changes that the stores make.
@Suite(.stores) struct DeviceLeaseDiagramTests {
    /// What may happen to the lease of a device.
    private enum Step: CaseIterable {
        case lease, end, expire, wait
    }

    @Test(arguments: conformingStores)
    func `The diagram of a lease`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        var edges: Set<String> = []
        // Ways to each state, and from there each step.
        for way in [[], [Step.lease], [.lease, .wait], [.lease, .expire]] {
            for step in Step.allCases {
                var device = Device(store: store, id: "\(way) \(step)")
                for step in way { try await device.take(step) }
                let before = try await device.state()
                try await device.take(step)
                let after = try await device.state()
                if before != after { edges.insert("\(before) --> \(after)") }
            }
        }
        let diagram = try StateDiagram(
            page: "docs/reference/notification-states.md", heading: "## Lease of a device")
        #expect(diagram.edges == edges)
    }

    private struct Device {
        let store: any Store
        let id: String
        var now = noon
        var lease: DeviceLease?

        mutating func take(_ step: Step) async throws {
            switch step {
            case .lease:
                let outcome = try await store.lease(.installation, id, if: .any, now: now)
                if case .leased(let lease) = outcome { self.lease = lease }
            case .end: if let lease { _ = try await store.end(lease, .keep, now: now) }
            case .expire: if let lease { try await store.expire(lease, now: now) }
            case .wait: now = now + DeviceLease.duration
            }
        }

        /// The names of the diagram.
        func state() async throws -> String {
            // Only the lease that the row has may set places.
            guard let lease, try await store.setPlaces([], of: lease) else { return "free" }
            let expired = try await store.expiredLeases(limit: 99, now: now)
            return expired.contains { $0.id == id } ? "in_doubt" : "held"
        }
    }
}
