import TestSupport
import Testing

/// Expects a condition to hold before a deadline.
func expectEventually(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let holds = try await eventually(condition)
    #expect(holds, sourceLocation: sourceLocation)
}
