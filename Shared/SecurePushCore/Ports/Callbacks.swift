// The callbacks of the ports, for stores that have only asynchronous functions.

extension NotificationWriter {
    /// Runs ``append(_:)`` in a task.
    package func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        complete(completion) { try await append(notifications) }
    }
}

extension PayloadReader {
    /// Runs ``find(_:recipient:)`` in a task.
    package func find(
        _ id: NotificationID, recipient: UserName,
        then completion: @escaping @Sendable (Result<StoredNotification?, any Error>) -> Void
    ) {
        complete(completion) { try await find(id, recipient: recipient) }
    }

    /// Runs ``markRead(_:at:)`` in a task.
    package func markRead(
        _ id: NotificationID, at time: Timestamp, then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        complete(completion) { try await markRead(id, at: time) }
    }
}

/// Runs an asynchronous function in a task, and gives its result to a callback.
private func complete<Value: Sendable>(
    _ completion: @escaping @Sendable (Result<Value, any Error>) -> Void,
    with body: @escaping @Sendable () async throws -> Value
) {
    Task {
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        completion(result)
    }
}
