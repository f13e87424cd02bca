import Domain
import Foundations

/// Gives a group to the store in one statement. If the store refuses the group for good, it finds the elements that are
/// refused, so that they do not hold up the others.
///
/// Decision: docs/decisions/0006-group-commit.md
struct GroupWrite<Element: Sendable, Value: Sendable>: Sendable {
    struct Result: Sendable {
        /// The values that the successful statements returned.
        var values: [Value] = []
        /// The elements that the store refuses for good, while it takes others.
        var refused: [(element: Element, error: StorageError)] = []
        /// The elements that were not stored. The store is unavailable, or it refuses everything.
        var left: [Element] = []
        var failure: (any Error)?

        /// Whether a later try may succeed without an operator.
        var isRetriable: Bool { (failure as? StorageError)?.isRetriable ?? true }

        var failures: [any Error] { refused.map(\.error) + [failure].compactMap(\.self) }

        /// Adds the result of a try with the elements that were left.
        mutating func add(_ later: Result) {
            values += later.values
            refused += later.refused
            (left, failure) = (later.left, later.failure)
        }

        mutating func leave(_ elements: [Element], _ error: any Error) {
            left += elements
            failure = error
        }
    }

    /// Stores all elements, or none and throws.
    let write: @Sendable ([Element]) async throws -> Value
    /// ``write`` with an element that the store does not have, so that it changes nothing. If it fails too,
    /// the store refuses everything, and no element is at fault: it is read-only, or the role lacks a right.
    let probe: @Sendable () async throws -> Void

    /// Stores elements, once each.
    func callAsFunction(_ elements: [Element]) async -> Result {
        var result = Result()
        do {
            result.values.append(try await write(elements))
        } catch let error as StorageError where !error.isRetriable {
            do {
                try await probe()
                // The error of a single element may have passed by now, because the probe has succeeded.
                if elements.count == 1 { await store(elements, &result) } else { await split(elements, error, &result) }
            } catch {
                result.leave(elements, error)
            }
        } catch {
            result.leave(elements, error)
        }
        return result
    }

    /// Stores the halves of a group that was refused, and so on down to single elements.
    private func split(_ elements: [Element], _ error: StorageError, _ result: inout Result) async {
        if elements.count == 1 {
            result.refused.append((elements[0], error))
            return
        }
        let middle = elements.count / 2
        for half in [Array(elements[..<middle]), Array(elements[middle...])] { await store(half, &result) }
    }

    private func store(_ elements: [Element], _ result: inout Result) async {
        do {
            result.values.append(try await write(elements))
        } catch let error as StorageError where !error.isRetriable {
            await split(elements, error, &result)
        } catch {
            result.leave(elements, error)
        }
    }

    /// Stores as much as possible of a group that has waited for long. If the row of one element stays locked, each
    /// statement with it fails, but the other elements must be stored.
    ///
    /// The separation takes the time of two statements at most: parts are written together, and then the elements of
    /// those that fail.
    func separate(_ failed: Result, while mayGoOn: () -> Bool) async -> Result {
        var result = failed
        let root = Int(Double(failed.left.count).squareRoot())
        for size in root > 1 ? [root, 1] : [1] where !result.left.isEmpty && mayGoOn() {
            // A failed probe means that the store is unavailable.
            guard (try? await probe()) != nil else { break }
            let left = result.left
            let parts = stride(from: 0, to: left.count, by: size).map { Array(left[$0..<min($0 + size, left.count)]) }
            (result.left, result.failure) = ([], nil)
            for part in await together(parts) {
                result.values += part.values
                result.refused += part.refused
                if let error = part.failure { result.leave(part.left, error) }
            }
        }
        return result
    }

    private func together(_ parts: [[Element]]) async -> [Result] {
        await withTaskGroup(of: Result.self) { group in
            for part in parts { group.addTask { await callAsFunction(part) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension GroupWrite.Result where Element: Hashable, Value == Claims<Element> {
    /// The claims of all statements. Notifications that the store refuses to claim count as unreadable.
    var claims: Claims<Element> {
        var claims = values.first ?? Claims()
        for others in values.dropFirst() { claims.merge(others) }
        for (element, error) in refused { claims.unreadable[element] = .refusedClaim(error) }
        return claims
    }
}

extension GroupWrite where Element == NotificationID, Value == DispatchClaims {
    /// Claims notifications.
    ///
    /// - Parameter first: those whose deliveries own the first attempt.
    static func claim(_ store: any DispatchStore, first: Set<NotificationID>) -> GroupWrite {
        GroupWrite {
            try await store.claim($0, first: first, now: .now)
        } probe: {
            _ = try await store.claim([NotificationID()], now: .now)
        }
    }
}

extension GroupWrite where Element == FollowUp, Value == FollowUpClaims {
    static func claim(_ store: any DispatchStore) -> GroupWrite {
        GroupWrite {
            try await store.claimFollowUps($0, now: .now)
        } probe: {
            _ = try await store.claimFollowUps([FollowUp(id: NotificationID(), kind: .withdrawal)], now: .now)
        }
    }
}

extension GroupWrite where Element == Settlement, Value == Set<NotificationID> {
    /// Stores the outcomes of notifications; returns those with a later claim.
    static func record(_ store: any DispatchStore) -> GroupWrite {
        GroupWrite {
            try await store.record($0.compactMap(\.outcome))
        } probe: {
            try await probe(store)
        }
    }

    /// With a push, so that the statement is the one that also makes follow-ups.
    static func probe(_ store: any DispatchStore) async throws {
        _ = try await store.record([
            DispatchOutcome(id: NotificationID(), attempt: 1, deliveries: [], pushedAt: .now)
        ])
    }
}

extension GroupWrite where Element == Settlement, Value == Void {
    static func record(_ store: any DispatchStore) -> GroupWrite {
        GroupWrite {
            try await store.recordFollowUps($0.compactMap(\.followUp?.outcome))
        } probe: {
            try await probe(store)
        }
    }

    static func probe(_ store: any DispatchStore) async throws {
        let unknown = FollowUp(id: NotificationID(), kind: .withdrawal)
        try await store.recordFollowUps([FollowUpOutcome(followUp: unknown, attempt: 1, deliveries: [])])
    }
}
