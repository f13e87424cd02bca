import Domain
package import Logging
import Postgres

/// A database role with the minimum rights of one service. None of them owns or creates tables, or is a superuser; only
/// ``owner`` owns the tables and runs the migrations.
///
/// Decision: docs/decisions/0037-operator-is-a-service.md
package enum DatabaseRole: String, CaseIterable, Sendable {
    case ingest, dispatcher, retrieval
    /// The operator's page: reads states, and sends again what failed.
    case `operator`
    /// Your own notification hub, which has separate tables.
    case hub
    /// The command line: dead letters, installations, key rotation, `doctor`.
    case cli

    /// The role that owns the tables. It has no password and cannot log in; `setup` uses it with `SET ROLE`.
    package static let owner = "securepush_owner"

    /// The role's name in the database.
    package var name: String { "securepush_\(rawValue)" }

    /// Its privileges by table; a privilege may list columns (PostgreSQL's manual, GRANT).
    var grants: [(table: String, privileges: String)] {
        let all = "SELECT, INSERT, UPDATE, DELETE"
        let schema = (table: "schema_migrations", privileges: "SELECT")
        switch self {
        case .ingest:
            return [
                // Resending a failed notification also writes the dispatch columns.
                (
                    "notifications",
                    "SELECT, INSERT, DELETE, UPDATE (revoked_at, status, attempt, deliveries, recorded_attempt)"
                ),
                ("payloads", "SELECT, INSERT, DELETE, UPDATE (sealed, purge_at)"),
                ("answers", "SELECT, INSERT, DELETE, UPDATE (is_closed, text_key, text_sealed, text_until)"),
                ("device_reports", "SELECT, DELETE"),
                ("outbox", all), ("follow_ups", all), ("idempotency_keys", all),
                // The purge removes rows of recipients without notifications.
                ("silent_pushes", "SELECT, DELETE"),
                // Senders read the keys and the number of a recipient's devices, and nothing else of the devices.
                // Ingest tells users about new keys.
                (
                    "installations",
                    "SELECT (id, owner, encryption_key, encryption_key_at, key_notice_at), UPDATE (key_notice_at)"
                ),
                ("registrations", "SELECT (owner, platform)"), schema,
            ]
        case .dispatcher:
            // No access to payloads, although they are sealed.
            return [
                (
                    "notifications",
                    "SELECT, UPDATE (status, attempt, claimed_at, deliveries, recorded_attempt)"
                ),
                ("outbox", all), ("follow_ups", "SELECT, INSERT, UPDATE"),
                ("registrations", "SELECT (owner, platform)"),
                ("installations", "SELECT (owner, platform)"), ("silent_pushes", "SELECT, INSERT, UPDATE"),
                ("outcome_watch", "SELECT, UPDATE"), schema,
            ]
        case .retrieval:
            return [
                ("notifications", "SELECT, UPDATE (read_at, shown_at)"), ("payloads", "SELECT"),
                (
                    "answers",
                    "SELECT, UPDATE (wrong_challenges, action, answered_at, device_id, text_key, text_sealed, "
                        + "text_until)"
                ),
                ("device_reports", "SELECT, INSERT, UPDATE"),
                // A first reading adds a withdrawal if the dispatcher has DISPATCH_WITHDRAW=read.
                ("follow_ups", "INSERT (notification_id, kind, due_at)"), ("registrations", all),
                ("installations", all), ("device_leases", all), ("device_places", all), ("refresh_tokens", all), schema,
            ]
        case .operator:
            // States and names: neither payloads nor devices, and not the text of an alert.
            return [
                (
                    "notifications",
                    "SELECT (id, sender, recipient, created_at, expires_at, not_before, platforms, status, attempt, "
                        + "deliveries, claimed_at, recorded_attempt, read_at, shown_at, revoked_at, remind, "
                        + "traceparent), UPDATE (status, attempt, claimed_at, deliveries, recorded_attempt)"
                ),
                ("outbox", "SELECT, INSERT, UPDATE"),
                ("follow_ups", "SELECT (notification_id, kind, deliveries, sent, due_at)"),
                ("answers", "SELECT (notification_id, wrong_challenges, action, answered_at, device_id)"),
                ("device_reports", "SELECT"), schema,
            ]
        case .hub:
            return HubSchema.tables.map { ($0, all) } + [(HubSchema.markTable, "SELECT")]
        case .cli:
            return [
                ("notifications", "SELECT, UPDATE (status, attempt, deliveries, recorded_attempt)"),
                ("payloads", "SELECT"), ("answers", "SELECT (notification_id, text_key, text_until)"),
                ("outbox", "SELECT, INSERT, UPDATE"), ("registrations", all), ("installations", all),
                // `hubs rebalance` moves devices.
                ("device_leases", all), ("device_places", all),
                // `hub devices` counts.
                ("hub_registrations", "SELECT (hub, format, is_template, updated_at)"), (HubSchema.markTable, "SELECT"),
                // `hub check` asks APNs with the token that the hub has.
                ("hub_push_tokens", "SELECT"),
                schema,
            ]
        }
    }
}

/// The SQL for ``DatabaseRole`` in two parts, between which the owner runs the migrations. Both can be repeated.
package enum DatabaseRoles {
    private static let tables =
        [
            "notifications", "payloads", "answers", "device_reports", "outbox", "registrations", "idempotency_keys",
            "installations",
            "device_leases", "device_places", "follow_ups", "silent_pushes", "refresh_tokens", "outcome_watch",
            "schema_migrations",
        ] + HubSchema.tables + [HubSchema.markTable]

    /// Creates the roles, and makes ``DatabaseRole/owner`` the owner of existing tables. A superuser runs these.
    ///
    /// - Parameter verifiers: the SCRAM verifiers of the roles' passwords (`SCRAM-SHA-256$...`). A role without one
    ///   keeps its password; if it has none, it cannot log in by password.
    package static func roles(verifiers: [DatabaseRole: String] = [:]) -> [String] {
        let minimal = "NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
        var statements = [create(DatabaseRole.owner), "ALTER ROLE \(DatabaseRole.owner) NOLOGIN \(minimal)"]
        for role in DatabaseRole.allCases {
            statements.append(create(role.name))
            let password = verifiers[role].map { " PASSWORD '\($0.replacing("'", with: "''"))'" } ?? ""
            statements.append("ALTER ROLE \(role.name) LOGIN \(minimal)\(password)")
        }
        let names = DatabaseRole.allCases.map(\.name).joined(separator: ", ")
        statements += [
            """
            DO $$ BEGIN
                EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
                EXECUTE format('GRANT CONNECT ON DATABASE %I TO \(names)', current_database());
            END $$
            """,
            revokeLargeObjects,
            "REVOKE ALL ON SCHEMA public FROM PUBLIC",
            "GRANT USAGE ON SCHEMA public TO \(names)",
            "GRANT USAGE, CREATE ON SCHEMA public TO \(DatabaseRole.owner)",
        ]
        return statements + tables.map { "ALTER TABLE IF EXISTS public.\($0) OWNER TO \(DatabaseRole.owner)" }
    }

    /// Revokes all privileges on the tables from the roles and grants theirs. The owner runs these after the
    /// migrations.
    package static func grants() -> [String] {
        DatabaseRole.allCases.flatMap { role in
            ["REVOKE ALL ON ALL TABLES IN SCHEMA public FROM \(role.name)"]
                + role.grants.map { "GRANT \($0.privileges) ON public.\($0.table) TO \(role.name)" }
        }
    }

    /// Both parts as a script for psql, with the command between them as a comment.
    package static func script() -> String {
        let end = ";\n"
        return
            "-- As a superuser, in the database of SecurePush. Passwords: \\password \(DatabaseRole.ingest.name), ...\n"
            + "BEGIN;\n" + roles().joined(separator: end) + end + "COMMIT;\n"
            + "-- The owner runs the migrations, securepush migrate with\n"
            + "-- DATABASE_URL='postgres://ADMIN@HOST/NAME?options=-c%20role%3D\(DatabaseRole.owner)'\n"
            + "BEGIN;\nSET ROLE \(DatabaseRole.owner);\n" + grants().joined(separator: end) + end
            + "RESET ROLE;\nCOMMIT;\n"
    }

    /// By default every role may store large objects, as many as the disk holds. No service uses them.
    ///
    /// Only the owner of the functions can revoke it, which is a superuser.
    private static let revokeLargeObjects = #"""
        DO $$ DECLARE function_name regprocedure; BEGIN
            FOR function_name IN SELECT oid::regprocedure FROM pg_catalog.pg_proc
                WHERE pronamespace = 'pg_catalog'::regnamespace AND pg_has_role(proowner, 'MEMBER')
                    AND (proname LIKE 'lo\_%' OR proname IN ('loread', 'lowrite'))
            LOOP
                EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', function_name);
            END LOOP;
        END $$
        """#

    private static func create(_ role: String) -> String {
        """
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(role)') THEN CREATE ROLE \(role); END IF;
        END $$
        """
    }
}

extension DatabaseRoles {
    /// Creates the roles, runs pending migrations as ``DatabaseRole/owner``, and grants each role its privileges.
    ///
    /// It can be repeated. Services that run meanwhile keep their privileges: each part is one transaction.
    ///
    /// - Parameters:
    ///   - uri: the database, as a superuser or as a role that may create roles and use `SET ROLE` for the owner.
    ///   - verifiers: see ``roles(verifiers:)``.
    /// - Throws: ``StorageError``.
    package static func apply(
        uri: String, verifiers: [DatabaseRole: String], logger: Logger
    ) async throws -> MigrationReport {
        guard case .postgres = try StorageConfiguration(url: uri).location else {
            throw StorageError(.invalid, "Roles need PostgreSQL: the database URL must begin with postgres://.")
        }
        try await run(roles(verifiers: verifiers), uri: uri)
        let asOwner = uri + (uri.contains("?") ? "&" : "?") + "options=-c%20role%3D\(DatabaseRole.owner)"
        let storage = try StorageConfiguration(url: asOwner)
        var report = try await migrateStore(storage, logger: logger)
        report.applied += try await migrateHubTables(storage, logger: logger).applied
        try await run(grants(), uri: asOwner)
        return report
    }

    private static func run(_ statements: [String], uri: String) async throws {
        do {
            let connection = try PostgresConnection(configuration: try PostgresConfiguration(uri: uri))
            do {
                try await connection.connect()
                try await connection.withTransaction { try await connection.execute(statements) }
                await connection.close()
            } catch {
                await connection.close()
                throw error
            }
        } catch {
            throw StorageError.mapping(error)
        }
    }
}
