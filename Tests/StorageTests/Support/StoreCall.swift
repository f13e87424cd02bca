import SecurePushCore

/// One call of each method of the ports.
enum StoreCall: CaseIterable {
    case append, find, markRead, lease, remove, backlog, claim, record
    case save, registration, registrations, removeRegistration, ping

    func make(_ store: any Store, _ sample: SealedNotification) async throws {
        let id = sample.id
        switch self {
        case .append: try await store.append([sample])
        case .find: _ = try await store.find(id, recipient: .alice)
        case .markRead: try await store.markRead(id, at: noon)
        case .lease: _ = try await store.lease(limit: 3, now: due, until: due)
        case .remove: try await store.remove([id])
        case .backlog: _ = try await store.backlog(now: due)
        case .claim: _ = try await store.claim([id], now: noon)
        case .record: try await store.record([DispatchOutcome(id: id, attempt: 1, deliveries: [])])
        case .save:
            try await store.save(Registration(id: "\(id)", owner: .alice, handle: "h", updatedAt: noon))
        case .registration: _ = try await store.registration("\(id)", owner: .alice)
        case .registrations: _ = try await store.registrations(handle: "h")
        case .removeRegistration: try await store.removeRegistration("\(id)")
        case .ping: try await store.ping(timeout: .seconds(5))
        }
    }
}
