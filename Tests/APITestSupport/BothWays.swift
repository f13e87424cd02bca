package import Testing

/// The way on which a service answers the requests of a test.
package enum RouteWay: Sendable, CaseIterable {
    /// All requests are the router's.
    case router
    /// The service listens at a port, and direct routes answer the requests that they take.
    case direct

    /// The way of the test that runs.
    @TaskLocal package static var current = RouteWay.router
}

/// Runs each test twice: over the router, and over the direct routes.
package struct BothWaysTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    /// Called by Swift Testing around each case of each test.
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for way in RouteWay.allCases {
            try await RouteWay.$current.withValue(way) { try await function() }
        }
    }
}

extension Trait where Self == BothWaysTrait {
    /// Runs each test over the router, and then over the direct routes.
    package static var bothWays: Self { Self() }
}
