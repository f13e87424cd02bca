import Testing

@testable import Postgres

/// The pipeline as a pure value: queries are numbers, replies are texts.
struct PostgresPipelineTests {
    typealias Pipeline = PostgresPipeline<Int, String>
    let statement = PostgresStatement("SELECT 1")
    let other = PostgresStatement("SELECT 2")
    let later = ContinuousClock.now + .seconds(10)

    private func outcomes(_ pipeline: inout Pipeline, _ events: [Pipeline.Event]) -> [String] {
        events.compactMap { event in
            switch pipeline.receive(event) {
            case .none: nil
            case .fail: "fail"
            case .complete(let query, .success(let reply)): "\(query): \(reply)"
            case .complete(let query, .failure(let error)): "\(query): \(error.sqlState ?? "\(error.code)")"
            }
        }
    }

    private func pipeline(preparing: Bool, queries: ClosedRange<Int> = 1...1) -> Pipeline {
        var pipeline = Pipeline()
        for query in queries {
            pipeline.sent(query, statement: statement, isPreparing: preparing && query == 1, deadline: later)
        }
        return pipeline
    }

    private func refusal(_ sqlState: String) -> PostgresError { PostgresError(.server, sqlState: sqlState, "") }

    @Test func `A statement is prepared once`() throws {
        var pipeline = Pipeline()
        let first = try pipeline.name(for: statement, PostgresParameters())
        let again = try pipeline.name(for: statement, PostgresParameters())
        let different = try pipeline.name(for: other, PostgresParameters())
        #expect(first.isNew && !again.isNew && different.isNew)
        #expect(first.name == again.name && first.name != different.name)
    }

    @Test func `Parameters of other types are refused`() throws {
        var pipeline = Pipeline()
        var number = PostgresParameters()
        number.append(Int64(1))
        var text = PostgresParameters()
        text.append("1")
        _ = try pipeline.name(for: statement, number)
        #expect { _ = try pipeline.name(for: statement, text) } throws: { ($0 as? PostgresError)?.code == .invalid }
    }

    @Test func `A reply counts once its sync is answered`() {
        var pipeline = pipeline(preparing: false)
        #expect(outcomes(&pipeline, [.reply("a"), .end]) == [])
        #expect(outcomes(&pipeline, [.synced]) == ["1: a"])
        #expect(pipeline.isEmpty)
    }

    @Test func `The answer to a prepare is not the query's`() {
        var pipeline = pipeline(preparing: true)
        #expect(outcomes(&pipeline, [.reply("prepared"), .end, .reply("a"), .end, .synced]) == ["1: a"])
    }

    @Test func `A commit that fails at the sync fails the query`() {
        var pipeline = pipeline(preparing: false)
        let events: [Pipeline.Event] = [.reply("a"), .end, .failure(refusal("23503")), .end, .synced]
        #expect(outcomes(&pipeline, events) == ["1: 23503"])
    }

    @Test func `A failure takes no other query with it`() {
        var pipeline = pipeline(preparing: false, queries: 1...3)
        let good: [Pipeline.Event] = [.reply("a"), .end, .synced]
        let bad: [Pipeline.Event] = [.failure(refusal("23505")), .end, .synced]
        #expect(outcomes(&pipeline, good + bad + good) == ["1: a", "2: 23505", "3: a"])
    }

    @Test func `A statement that could not be prepared is prepared anew under another name`() throws {
        var pipeline = Pipeline()
        let first = try pipeline.name(for: statement, PostgresParameters())
        pipeline.sent(1, statement: statement, isPreparing: true, deadline: later)
        let events: [Pipeline.Event] = [.failure(refusal("42P01")), .end, .aborted, .end, .synced]
        #expect(outcomes(&pipeline, events) == ["1: 42P01"])
        let second = try pipeline.name(for: statement, PostgresParameters())
        #expect(second.isNew && second.name != first.name)
    }

    @Test func `An answer to nothing is a failure of the connection`() {
        var pipeline = Pipeline()
        #expect(outcomes(&pipeline, [.synced]) == ["fail"])
        var running = self.pipeline(preparing: false)
        #expect(outcomes(&running, [.synced]) == ["fail"])
    }

    @Test func `Removing all forgets what was prepared`() throws {
        var pipeline = Pipeline()
        _ = try pipeline.name(for: statement, PostgresParameters())
        pipeline.sent(7, statement: statement, isPreparing: true, deadline: later)
        pipeline.sent(8, statement: statement, isPreparing: false, deadline: later)
        #expect(pipeline.deadline == later)
        #expect(pipeline.removeAll() == [7, 8])
        #expect(try pipeline.name(for: statement, PostgresParameters()).isNew)
        #expect(pipeline.deadline == nil)
    }
}
