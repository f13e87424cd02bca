import Domain
import Foundation
import Foundations
import GRDB
import Logging
import TestSupport
import Testing

@testable import Storage

/// docs/reference/database-schema.md has the tables of a fresh database of each kind. Only the last cell of a row, what
/// a column means or an index is for, is written there by hand.
struct SchemaDocumentTests {
    private static let page = "docs/reference/database-schema.md"

    private static func document() throws -> String {
        try String(contentsOf: TestEnvironment.packageRoot.appending(path: page), encoding: .utf8)
    }

    /// The rows of the page's tables, by the name of the section.
    private static func rows() throws -> [String: [PageRow]] {
        let sections = try document().components(separatedBy: "\n## `").dropFirst()
        return Dictionary(
            sections.map { section in
                let lines = section.components(separatedBy: "\n## ")[0].split(separator: "\n")
                let name = String(section.prefix { $0 != "`" })
                return (name, lines.compactMap { PageRow($0) })
            }
        ) { $1 }
    }

    @Test func `The page has the tables of a fresh database`() async throws {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let postgres = try await PostgresTestDatabase.with { url in
            _ = try await PostgresStore.migrate(uri: url, logger: quiet)
            _ = try await PostgresStore.migrate(uri: url, schema: .hub, logger: quiet)
            return try await Schema(postgres: url)
        }
        let sqlite = try await withTemporaryFolder { folder in
            let configuration = try StorageConfiguration(url: "sqlite:\(folder)/x.sqlite")
            _ = try await migrateStore(configuration, logger: quiet)
            _ = try await migrateHubTables(configuration, logger: quiet)
            return try await Schema(sqlite: "\(folder)/x.sqlite")
        }
        let rows = try Self.rows()
        #expect(rows.keys.sorted() == postgres.tables)
        for table in postgres.tables {
            let expected = postgres.rows(of: table, beside: sqlite)
            let text = expected.joined(separator: "\n")
            #expect(rows[table]?.map(\.given) == expected, "\(Self.page), `\(table)`, without the last cells:\n\(text)")
        }
        // A table that only SQLite has would be in no row.
        #expect(Set(sqlite.tables).isSubset(of: postgres.tables))
    }

    @Test func `Every column and index has a meaning, and the version is the current one`() throws {
        for (table, rows) in try Self.rows() {
            for row in rows { #expect(!row.meaning.isEmpty, "\(table): \(row.given)") }
        }
        let versions = "of version \(SchemaVersion.current) of the schema, and of version \(StorageSchema.hub.version)"
        #expect(try Self.document().contains(versions))
    }

    @Test func `The page has the rights of the roles`() throws {
        let tables = Set(DatabaseRole.allCases.flatMap { $0.grants.map(\.table) }).sorted()
        let roles = DatabaseRole.allCases
        let lines = tables.map { table in
            let cells = roles.map { role in
                role.grants.first { $0.table == table }?.privileges
                    .replacing("SELECT, INSERT, UPDATE, DELETE", with: "all") ?? "none"
            }
            return "| `\(table)` | \(cells.joined(separator: " | ")) |"
        }
        let head = [
            "| table | \(roles.map { "`\($0.rawValue)`" }.joined(separator: " | ")) |",
            "| --- |\(String(repeating: " --- |", count: roles.count))",
        ]
        let table = (head + lines).joined(separator: "\n")
        #expect(try Self.document().contains(table + "\n"), "Put this table into \(Self.page):\n\(table)")
    }

    @Test(arguments: [
        ("notifications", "status", DispatchStatus.allCases.map { "\($0.rawValue) `\($0)`" }),
        ("notifications", "presentation", Presentation.allCases.map { "\($0.code) `\($0)`" }),
        ("notifications", "priority", Priority.allCases.map { "\($0.code) `\($0)`" }),
        (
            "notifications", "display",
            Display.allCases.compactMap { display in display.code.map { "\($0) `\(display)`" } }
        ),
        ("follow_ups", "kind", FollowUp.Kind.allCases.map { "\($0.code) `\($0)`" }),
        (
            "follow_ups", "state",
            [FollowUpState.scheduled, .published, .repeated].map { "\($0.rawValue) `\($0)`" }
        ),
        ("device_leases", "kind", DeviceLease.Kind.allCases.map { "\($0.rawValue) `\($0)`" }),
        ("device_places", "kind", DeviceLease.Kind.allCases.map { "\($0.rawValue) `\($0)`" }),
    ])
    func `Numbers that stand for names are those of the code`(_ column: (table: String, name: String, codes: [String]))
        throws
    {
        let row = try #require(try Self.rows()[column.table]?.first { $0.given.hasPrefix("| `\(column.name)` |") })
        let codes = column.codes.joined(separator: ", ")
        #expect(row.meaning.contains(codes), "\(column.table).\(column.name): \(codes)")
    }

    @Test func `The members of a delivery are those that are stored`() throws {
        let full = Delivery(
            platform: .apple, state: .sent, attempts: 2, unanswered: 1, hubMessageID: "m", error: "e", updatedAt: .now,
            coalescedInto: NotificationID(), silentSequence: 1, isWithdrawnOnRead: true, outcome: "o")
        let stored = StorageCoding.encode([full]).matches(of: /"([a-z])":/).map { "| `\($0.1)`" }
        let section = try #require(try Self.document().components(separatedBy: "\n## Deliveries\n").last)
        let listed = section.split(separator: "\n").compactMap(PageRow.init).map(\.given)
        #expect(listed == stored)
    }
}

/// A row of a table of the page: all but its last cell, and the last cell.
private struct PageRow {
    var given: String
    var meaning: String

    /// `nil` for other lines, and for the heads of tables.
    init?(_ line: Substring) {
        let isHead = ["| column |", "| index |", "| member |", "| --- |"].contains { line.hasPrefix($0) }
        guard line.hasPrefix("| "), line.hasSuffix(" |"), !isHead else { return nil }
        let cells = line.dropLast(2)
        guard let bar = cells.range(of: " | ", options: .backwards) else { return nil }
        given = String(cells[..<bar.lowerBound])
        meaning = cells[bar.upperBound...].trimmingCharacters(in: .whitespaces)
    }
}

/// What the catalogue of a database says.
private struct Schema {
    struct Column {
        var table: String
        var name: String
        var type: String
        /// `yes` or `no`.
        var null: String
    }

    struct Index {
        var table: String
        /// Empty for the primary key.
        var name: String
        var definition: String
    }

    private let columns: [Column]
    private let indexes: [Index]

    var tables: [String] { Set(columns.map(\.table)).sorted() }

    init(postgres url: String) async throws {
        let columns = try await PostgresTestDatabase.psql(
            url,
            """
            SELECT t.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                CASE WHEN a.attnotnull THEN 'no' ELSE 'yes' END
            FROM pg_attribute AS a JOIN pg_class AS t ON t.oid = a.attrelid
            WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace AND a.attnum > 0
                AND NOT a.attisdropped
            ORDER BY t.relname, a.attnum
            """)
        let indexes = try await PostgresTestDatabase.psql(
            url,
            """
            SELECT t.relname, CASE WHEN i.indisprimary THEN '' ELSE c.relname END,
                CASE WHEN i.indisunique AND NOT i.indisprimary THEN 'UNIQUE ' ELSE '' END
                || CASE am.amname WHEN 'btree' THEN '' ELSE am.amname || ' ' END
                || '(' || (
                    SELECT string_agg(pg_get_indexdef(c.oid, n, true), ', ' ORDER BY n)
                    FROM generate_series(1, i.indnatts) AS n
                ) || ')'
                || coalesce(' WHERE ' || replace(
                    pg_get_expr(i.indpred, i.indrelid, true), quote_literal('9223372036854775807') || '::bigint',
                    '9223372036854775807'), '')
            FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_class AS t ON t.oid = i.indrelid
            JOIN pg_am AS am ON am.oid = c.relam
            WHERE t.relnamespace = current_schema()::regnamespace
            """)
        self.init(columns: Self.fields(columns), indexes: Self.fields(indexes))
    }

    init(sqlite path: String) async throws {
        let queue = try DatabaseQueue(path: path)
        let (columns, keys, indexes) = try await queue.read { db in
            (
                try Self.texts(
                    db,
                    """
                    SELECT t.name, c.name, c.type, CASE c."notnull" WHEN 1 THEN 'no' ELSE 'yes' END
                    FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
                    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
                    """),
                try Self.texts(
                    db,
                    """
                    SELECT name, '', '(' || group_concat(key, ', ') || ')' FROM (
                        SELECT t.name AS name, c.name AS key
                        FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
                        WHERE t.type = 'table' AND c.pk > 0 ORDER BY t.name, c.pk
                    ) GROUP BY name
                    """),
                try Self.texts(
                    db, "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
            )
        }
        let defined = indexes.map { row in
            let text = row[2].drop { $0 != "(" }.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let definition = text.replacing("( ", with: "(").replacing(" )", with: ")")
            return [row[0], row[1], (row[2].hasPrefix("CREATE UNIQUE") ? "UNIQUE " : "") + definition]
        }
        self.init(columns: columns, indexes: keys + defined)
    }

    private init(columns: [[String]], indexes: [[String]]) {
        self.columns = columns.map { Column(table: $0[0], name: $0[1], type: $0[2], null: $0[3]) }
        self.indexes = indexes.map { Index(table: $0[0], name: $0[1], definition: $0[2]) }
            .sorted { $0.name < $1.name }
    }

    /// What psql printed.
    private static func fields(_ text: String) -> [[String]] {
        text.split(separator: "\n").map { $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init) }
    }

    private static func texts(_ db: Database, _ statement: String) throws -> [[String]] {
        try Row.fetchAll(db, sql: statement).map { row in (0..<row.count).map { row[$0] ?? "" } }
    }

    /// The rows of the page for a table, without their last cells.
    func rows(of table: String, beside other: Schema) -> [String] {
        let otherColumns = other.columns.filter { $0.table == table }
        let otherIndexes = other.indexes.filter { $0.table == table }
        return columns.filter { $0.table == table }.map { column in
            let twin = otherColumns.first { $0.name == column.name }
            let null = twin.map { $0.null == column.null ? column.null : "\(column.null); SQLite \($0.null)" }
            return "| `\(column.name)` | `\(column.type)` | \(twin.map { "`\($0.type)`" } ?? "none") "
                + "| \(null ?? column.null)"
        }
            + indexes.filter { $0.table == table }.map { index in
                let name = index.name.isEmpty ? "primary key" : "`\(index.name)`"
                let twin = otherIndexes.first { $0.name == index.name }?.definition ?? "none"
                let isAlike = otherColumns.isEmpty || twin == index.definition
                return "| \(name) | `\(index.definition)`" + (isAlike ? "" : "; SQLite `\(twin)`")
            }
    }
}
