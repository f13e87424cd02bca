extension PostgresMigration {
    // No row is rewritten. A family without `replaced_hash` was not refreshed since. A process of the previous version
    // does not set the columns and ends a family whose token is used again.
    static let replacedTokens = PostgresMigration(
        version: 16, name: "0016_replaced_tokens",
        statements: ["ALTER TABLE refresh_tokens ADD COLUMN replaced_hash bytea, ADD COLUMN used_at bigint"])
}
