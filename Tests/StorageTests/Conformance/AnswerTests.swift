import Domain
import Foundations
import Storage
import Testing

@Suite("Questions and answers", .stores) struct AnswerTests {
    private static let expiry = noon + .seconds(3600)
    private static let until = expiry + Question.textRetention
    private static let question = Question(options: ["approve", "deny"], challenge: [107, 0, 255])

    private static func answer(_ action: String = "approve", text: SealedPayload? = nil) -> Answer {
        Answer(action: action, text: text, at: noon + .milliseconds(7), deviceID: "phone-1")
    }

    private static let text = SealedPayload(keyID: "k9", bytes: [0, 1, 255])

    /// Stores a notification with a question.
    private static func ask(_ store: any Store, _ question: Question = question) async throws -> NotificationID {
        let sent = SealedNotification.sample(question: question)
        try await store.append([sent])
        return sent.id
    }

    @Test(arguments: conformingStores)
    func `A question is stored with its notification, whichever way`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent: [SealedNotification] = [
            .sample(question: Self.question), .sample(), .sample(to: .bob, question: Question(options: ["ok"])),
        ]
        try await store.append(sent)
        let first = try #require(try await store.question(sent[0].id, recipient: .alice))
        #expect(first == OpenQuestion(state: ReadingState(expiresAt: Self.expiry), question: Self.question))
        #expect(try await store.question(sent[1].id, recipient: .alice)?.question == nil)
        #expect(try await store.question(sent[2].id, recipient: .bob)?.question == Question(options: ["ok"]))
        #expect(try await store.question(sent[2].id, recipient: .alice) == nil)
        #expect(try await store.question(NotificationID(), recipient: .alice) == nil)
        // A repeated append changes nothing, and adds what is missing.
        let more = SealedNotification.sample(question: Question(options: ["later"]))
        #expect(try await store.answer(sent[0].id, Self.answer(), textUntil: Self.until))
        try await store.append([sent[0], more])
        #expect(try await store.question(sent[0].id, recipient: .alice)?.answer == Self.answer())
        #expect(try await store.question(more.id, recipient: .alice)?.question?.options == ["later"])
        // With an idempotency key.
        let keyed: [SealedNotification] = [.sample(question: Self.question), .sample()]
        #expect(try await store.append(keyed, once: .sample(of: keyed), now: noon) == nil)
        #expect(try await store.question(keyed[0].id, recipient: .alice)?.question == Self.question)
        #expect(try await store.question(keyed[1].id, recipient: .alice)?.question == nil)
    }

    @Test(arguments: conformingStores)
    func `The sender and the operator are told of the answer, and only the sender of its text`(
        _ kind: StoreKind
    ) async throws {
        let store = try await kind.open()
        let id = try await Self.ask(store)
        #expect(try await store.record(id, sender: "tests")?.answer == nil)
        #expect(try await store.answer(id, Self.answer(text: Self.text), textUntil: Self.until))
        #expect(try await store.record(id, sender: "tests")?.answer == .given(Self.answer(text: Self.text)))
        #expect(try await store.life(of: id)?.record.answer == .given(Self.answer()))
        #expect(try await store.question(id, recipient: .alice)?.answer == Self.answer(text: Self.text))
        #expect(try await store.answer(id, Self.answer("deny"), textUntil: Self.until) == false)
        #expect(try await store.countWrongChallenge(id) == nil)
        #expect(try await store.record(id, sender: "tests")?.answer == .given(Self.answer(text: Self.text)))
    }

    @Test(arguments: conformingStores)
    func `Of many at once exactly one is stored`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for _ in 0..<5 {
            let id = try await Self.ask(store)
            let stored = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        let action = number.isMultiple(of: 2) ? "approve" : "deny"
                        let answer = Answer(action: action, at: noon, deviceID: "d\(number)")
                        return try await store.answer(id, answer, textUntil: Self.until) ? "d\(number)" : nil
                    }
                }
                return try await group.reduce(into: [String]()) { ids, id in if let id { ids.append(id) } }
            }
            #expect(stored.count == 1)
            #expect(try await store.question(id, recipient: .alice)?.answer?.deviceID == stored.first)
        }
    }

    @Test(arguments: conformingStores)
    func `The third wrong challenge ends the question`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await Self.ask(store)
        let counts = try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<9 { group.addTask { try await store.countWrongChallenge(id) } }
            return try await group.reduce(into: [Int?]()) { $0.append($1) }
        }
        #expect(counts.compactMap(\.self).sorted() == [1, 2, 3] && counts.count == 9)
        #expect(try await store.answer(id, Self.answer(), textUntil: Self.until) == false)
        #expect(try await store.question(id, recipient: .alice)?.hasFailed == true)
        #expect(try await store.record(id, sender: "tests")?.answer == .failed)
        #expect(try await store.life(of: id)?.record.answer == .failed)
    }

    @Test(arguments: conformingStores)
    func `Revoking ends the question and destroys the text`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (open, answered) = (try await Self.ask(store), try await Self.ask(store))
        #expect(try await store.answer(answered, Self.answer(text: Self.text), textUntil: Self.until))
        for id in [open, answered] { #expect(try await store.revoke(id, sender: "tests", now: noon)) }
        #expect(try await store.answer(open, Self.answer(), textUntil: Self.until) == false)
        #expect(try await store.countWrongChallenge(open) == nil)
        #expect(try await store.record(open, sender: "tests")?.answer == nil)
        #expect(try await store.record(answered, sender: "tests")?.answer == .given(Self.answer()))
    }

    @Test(arguments: conformingStores)
    func `A text is destroyed a day after the expiry, and the answer with the notification`(
        _ kind: StoreKind
    ) async throws {
        let store = try await kind.open()
        let id = try await Self.ask(store)
        #expect(try await store.answer(id, Self.answer(text: Self.text), textUntil: Self.until))
        #expect(try await store.purge(limit: 10, now: Self.expiry) == PurgeReport(payloads: 1))
        #expect(try await store.record(id, sender: "tests")?.answer == .given(Self.answer(text: Self.text)))
        #expect(try await store.payloadKeys(now: Self.until - .milliseconds(1)) == ["k9": 1])
        #expect(try await store.payloadKeys(now: Self.until) == [:])
        #expect(try await store.purge(limit: 10, now: Self.until) == PurgeReport(answers: 1))
        #expect(try await store.purge(limit: 10, now: Self.until) == PurgeReport())
        #expect(try await store.record(id, sender: "tests")?.answer == .given(Self.answer()))
        let end = Self.expiry + RetentionPolicy.tombstone
        #expect(try await store.purge(limit: 10, now: end) == PurgeReport(notifications: 1))
        #expect(try await store.question(id, recipient: .alice) == nil)
        // The row is gone as well: the ID could be used again.
        try await store.append([.sample(id, question: Question(options: ["ok"]))])
        #expect(try await store.question(id, recipient: .alice)?.question?.options == ["ok"])
    }

    @Test(arguments: conformingStores)
    func `The display is stored with the notification`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = Display.allCases.map { SealedNotification.sample(display: $0) }
        try await store.append(sent)
        let states = try await store.states(sent.map(\.id), recipient: .alice)
        for one in sent {
            #expect(try await store.find(one.id, recipient: .alice)?.display == one.notification.display)
            #expect(states[one.id]?.display == one.notification.display)
        }
    }
}
