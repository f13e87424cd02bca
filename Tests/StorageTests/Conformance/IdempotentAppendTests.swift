import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct IdempotentAppendTests {
    @Test(arguments: conformingStores)
    func `A repeat is given the first one's request, and stores nothing`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (first, second) = (SealedNotification.sample(), SealedNotification.sample())
        let request = IdempotentRequest.sample(of: [first], fingerprint: [1, 0, 200])
        #expect(try await store.append([first], once: request, now: noon) == nil)
        let repeated = IdempotentRequest.sample(of: [second], fingerprint: [2])
        #expect(try await store.append([second], once: repeated, now: noon + .seconds(1)) == request)
        #expect(try await store.find(first.id, recipient: .alice)?.payload?.bytes == [1, 2, 3])
        #expect(try await store.find(second.id, recipient: .alice) == nil)
        #expect(try await store.backlog(now: due).count == 1)
        #expect(try await store.request(request.key, now: noon) == request)
    }

    @Test(arguments: conformingStores)
    func `A request of many is stored whole, and its answer without a location`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(1000)
        let request = IdempotentRequest.sample(of: sent)
        #expect(try await store.append(sent, once: request, now: noon) == nil)
        #expect(try await store.backlog(now: due).count == 1000)
        let found = try #require(try await store.request(request.key, now: noon))
        #expect(found == request)
        #expect(found.answer.location == nil && found.answer.body.count == 36 * 1000 + 999)
    }

    /// A commit whose outcome stayed open may be tried again by its caller; that is not a second request.
    @Test(arguments: conformingStores)
    func `The same request again is no repeat of itself, and stores nothing twice`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        let request = IdempotentRequest.sample(of: [sent])
        for _ in 1...2 { #expect(try await store.append([sent], once: request, now: noon) == nil) }
        #expect(try await store.backlog(now: due).count == 1)
        let other = SealedNotification.sample()
        #expect(try await store.append([other], once: .sample(of: [other]), now: noon) == request)
    }

    @Test(arguments: conformingStores)
    func `Another key, another sender's and another line's are independent`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(4)
        let requests: [IdempotentRequest] = [
            .sample("key-1", of: [sent[0]]), .sample("key-2", of: [sent[1]]),
            .sample("key-1", sender: "others", of: [sent[2]]), .sample("key-1", line: 1, of: [sent[3]]),
        ]
        for (one, request) in zip(sent, requests) {
            #expect(try await store.append([one], once: request, now: noon) == nil)
        }
        for (one, request) in zip(sent, requests) {
            #expect(try await store.find(one.id, recipient: .alice) != nil)
            #expect(try await store.request(request.key, now: noon) == request)
        }
    }

    static let lookalikes: [(String, String)] = [
        ("user:\u{E9}", "user:e\u{301}"), ("user:alice", "user:Alice"), ("a", "a "), ("user:\u{212B}", "user:\u{C5}"),
    ]

    @Test(arguments: conformingStores, lookalikes)
    func `Senders and keys are compared byte for byte`(_ kind: StoreKind, _ names: (String, String)) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        let requests: [IdempotentRequest] = [
            .sample(sender: names.0, of: [sent[0]]), .sample(sender: names.1, of: [sent[1]]),
        ]
        #expect(try await store.append([sent[0]], once: requests[0], now: noon) == nil)
        #expect(try await store.request(requests[1].key, now: noon) == nil)
        #expect(try await store.append([sent[1]], once: requests[1], now: noon) == nil)
        for request in requests {
            let found = try #require(try await store.request(request.key, now: noon))
            #expect(found == request)
            #expect(found.key.sender.utf8.elementsEqual(request.key.sender.utf8))
        }
        let key = IdempotentRequest.Key(sender: names.0, value: "KEY-1")
        #expect(try await store.request(key, now: noon) == nil)
    }

    @Test(arguments: conformingStores)
    func `An expired key is free, to the millisecond`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(3)
        let end = noon + .seconds(10)
        let first = IdempotentRequest.sample(of: [sent[0]], expiresAt: end)
        #expect(try await store.append([sent[0]], once: first, now: noon) == nil)
        let before = end - .milliseconds(1)
        #expect(try await store.append([sent[1]], once: .sample(of: [sent[1]]), now: before) == first)
        #expect(try await store.request(first.key, now: before) == first)
        #expect(try await store.request(first.key, now: end) == nil)
        let anew = IdempotentRequest.sample(of: [sent[2]], fingerprint: [], expiresAt: end + .seconds(10))
        #expect(try await store.append([sent[2]], once: anew, now: end) == nil)
        #expect(try await store.request(first.key, now: end) == anew)
        #expect(try await store.find(sent[1].id, recipient: .alice) == nil)
        #expect(try await store.find(sent[2].id, recipient: .alice) != nil)
    }

    @Test(arguments: conformingStores)
    func `Of a hundred with one key one is stored, and the others are told which`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(100)
        let answers = try await withThrowingTaskGroup { group in
            for one in sent {
                group.addTask {
                    let request = IdempotentRequest.sample(of: [one])
                    return (one.id, try await store.append([one], once: request, now: noon))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let stored = answers.filter { $0.1 == nil }.map(\.0)
        try #require(stored.count == 1)
        let told = Set(answers.compactMap { $0.1?.answer.location })
        #expect(told == ["/api/notifications/\(stored[0])"])
        #expect(try await store.backlog(now: due).count == 1)
        for one in sent {
            let isThere = try await store.find(one.id, recipient: .alice) != nil
            #expect(isThere == (one.id == stored[0]))
        }
    }
}
