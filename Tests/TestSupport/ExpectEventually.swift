// A release build compiles this target too, without the testing library.
#if canImport(Testing)
import StackKit
package import Testing

/// Waits for a condition like ``eventually(within:every:_:)``, and records an issue where it does not come to hold.
package func expectEventually(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let holds = try await eventually(condition)
    #expect(holds, sourceLocation: sourceLocation)
}
#endif
