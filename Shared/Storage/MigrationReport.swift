/// What a migration did.
public struct MigrationReport: Sendable, Hashable {
    /// The names of the steps that were applied now, in their order; empty when the schema was up to date.
    public var applied: [String]
    /// The number of steps that the schema has had.
    public var version: Int

    public init(applied: [String], version: Int) {
        self.applied = applied
        self.version = version
    }
}
