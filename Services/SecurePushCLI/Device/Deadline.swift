import UnixSignals

/// Runs something until it is done, a time is up, or Ctrl-C asks for the end.
enum Deadline {
    enum End: Sendable {
        case done
        case timedOut
        case interrupted
    }

    static func run(_ limit: Duration?, _ body: @escaping @Sendable () async throws -> Void) async throws -> End {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return try await withThrowingTaskGroup(of: End?.self) { group in
            group.addTask {
                try await body()
                return .done
            }
            group.addTask {
                for await _ in signals { return .interrupted }
                return nil
            }
            if let limit {
                group.addTask {
                    try await Task.sleep(for: limit)
                    return .timedOut
                }
            }
            defer { group.cancelAll() }
            while let end = try await group.next() { if let end { return end } }
            return .done
        }
    }
}
