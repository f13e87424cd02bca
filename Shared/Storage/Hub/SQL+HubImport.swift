import Foundations

/// The hub's entries for the devices of a batch. Each value has its own subquery. With a list of values, and outdated
/// statistics of the growing tables, PostgreSQL would scan all rows of the hub.
extension SQL {
    /// The places of the registrations that have each value; NULL for none.
    static func sequences(_ column: StaticString, _ values: some Sequence<String>, hub: String) -> SQL {
        """
        SELECT (
            SELECT \(.listOfSequences) FROM hub_registrations AS k
            WHERE k.hub = \(hub) AND \(raw: "\(column)") = asked.value
        ) FROM \(table: values, as: "asked")
        """
    }

    static func registrations(_ sequences: Set<Int64>) -> SQL {
        """
        SELECT \(registrationColumns) FROM hub_registrations AS r WHERE r.sequence \(in: sequences) \(.forUpdate)
        """
    }

    /// Each ID, and NULL if it was not deleted.
    static func retired(_ ids: Set<String>, hub: String) -> SQL {
        """
        SELECT asked.value, (SELECT k.sequence FROM hub_retired_ids AS k WHERE k.hub = \(hub) AND k.id = asked.value)
        FROM \(table: ids, as: "asked")
        """
    }

    /// The handles that were written after a time.
    static func handles(among handles: Set<String>, hub: String, after time: Timestamp) -> SQL {
        """
        SELECT r.handle FROM \(table: handles, as: "asked") CROSS JOIN hub_registrations AS r
        WHERE r.handle = asked.value AND r.hub || '' = \(hub) AND r.updated_at > \(time)
        """
    }

    /// Each ID, with the stored installation or NULLs.
    static func installations(_ ids: Set<String>, hub: String) -> SQL {
        let columns = ["document", "updated_at", "expires_at"].map { column -> SQL in
            """
            , (
                SELECT k.\(raw: column) FROM hub_installations AS k WHERE k.hub = \(hub) AND k.id = asked.value
            )
            """
        }
        return "SELECT asked.value\(columns.reduce("", +)) FROM \(table: ids, as: "asked")"
    }
}

extension SQL {
    /// Many rows as one text of JSON, because a statement has few parameters.
    ///
    /// - Parameters:
    ///   - columns: names with PostgreSQL's types.
    ///   - write: writes the members of one row. A member that is left out reads as NULL.
    private static func rows<Row>(
        _ rows: [Row], as name: String, _ columns: KeyValuePairs<String, String>,
        _ write: (Row, inout JSONWriter) -> Void
    ) -> SQL {
        var json = JSONWriter()
        json.array { array in for row in rows { array.object { write(row, &$0) } } }
        let types = columns.map { "\($0) \($1)" }.joined(separator: ", ")
        let values = columns.map { "json_extract(value, '$.\($0.key)') AS \($0.key)" }.joined(separator: ", ")
        let start = SQLWord(postgres: "json_to_recordset(", sqlite: "(SELECT \(values) FROM json_each(")
        let end = SQLWord(postgres: "::json) AS \(name) (\(types))", sqlite: ")) AS \(name)")
        return "\(start)\(json.text)\(end)"
    }

    /// Inserts registrations, and returns `sequence` and `id` of those whose IDs were free.
    static func insert(_ registrations: [HubRegistrationRow], hub: String) -> SQL {
        let rows = rows(
            registrations, as: "added",
            [
                "id": "text", "format": "text", "is_template": "boolean", "tags": "text", "handle": "text",
                "installation_id": "text", "slot": "text", "updated_at": "bigint", "expires_at": "bigint",
                "document": "text",
            ]
        ) { row, json in
            json.member("id", row.id)
            json.member("format", row.format)
            json.member("is_template", row.isTemplate)
            json.member("tags", row.tags.joined(separator: ","))
            json.member("handle", row.handle)
            if let id = row.installationID { json.member("installation_id", id) }
            if let slot = row.slot { json.member("slot", slot) }
            json.member("updated_at", row.updatedAt.milliseconds)
            if let time = row.expiresAt { json.member("expires_at", time.milliseconds) }
            json.member("document", String(decoding: row.document, as: UTF8.self))
        }
        return """
            INSERT INTO hub_registrations (
                hub, id, version, format, is_template, tags, handle, installation_id, slot, updated_at, expires_at,
                document
            )
            SELECT \(hub), added.id, 1, added.format, added.is_template, added.tags, added.handle,
                added.installation_id, added.slot, added.updated_at, added.expires_at, \(.bytesOfDocument)
            FROM \(rows) WHERE true
            ON CONFLICT (hub, lower(id)) DO NOTHING RETURNING sequence, id
            """
    }

    static func insert(_ installations: [(id: String, row: HubInstallationRow)], hub: String) -> SQL {
        let rows = rows(
            installations, as: "added",
            ["id": "text", "updated_at": "bigint", "expires_at": "bigint", "document": "text"]
        ) { installation, json in
            let (id, row) = installation
            json.member("id", id)
            json.member("updated_at", row.updatedAt.milliseconds)
            if let time = row.expiresAt { json.member("expires_at", time.milliseconds) }
            json.member("document", String(decoding: row.document, as: UTF8.self))
        }
        return """
            INSERT INTO hub_installations (hub, id, document, updated_at, expires_at)
            SELECT \(hub), added.id, \(.bytesOfDocument), added.updated_at, added.expires_at FROM \(rows) WHERE true
            ON CONFLICT (hub, id) DO UPDATE SET document = excluded.document, updated_at = excluded.updated_at,
                expires_at = excluded.expires_at
            """
    }

    static func insert(_ tags: [(key: String, place: Int64)]) -> SQL {
        let rows = rows(tags, as: "added", ["key": "text", "place": "bigint"]) { tag, json in
            json.member("key", tag.key)
            json.member("place", tag.place)
        }
        return """
            INSERT INTO hub_tags (key, registration) SELECT added.key, added.place FROM \(rows) WHERE true
            ON CONFLICT (key, registration) DO NOTHING
            """
    }
}

extension SQLWord {
    fileprivate static let listOfSequences = SQLWord(
        postgres: "string_agg(k.sequence::text, ',')", sqlite: "group_concat(k.sequence)")
    /// Documents are texts.
    fileprivate static let bytesOfDocument = SQLWord(
        postgres: "convert_to(added.document, 'UTF8')", sqlite: "CAST(added.document AS BLOB)")
}
