/// The functions that change devices and their leases, as `0005_devices` creates them. `0015_device_limit` replaces
/// `lease_device`.
enum PostgresDeviceFunctions {
    static let all = [newHandleAt, save, lease, end]

    /// When to ask the hub about a handle; NULL if that was done while another device that is still stored had it.
    private static let newHandleAt = """
        CREATE FUNCTION device_new_handle_at(_kind smallint, _key text, _handles text[], _now bigint)
        RETURNS bigint LANGUAGE sql STABLE AS $$
            SELECT CASE WHEN cardinality(_handles) = 0 OR bool_or(new_handle_at IS NULL) THEN NULL
                ELSE coalesce(max(new_handle_at) FILTER (WHERE kind = _kind AND key = _key), _now) END
            FROM (
                SELECT 0 AS kind, lower(i.id) AS key, i.new_handle_at
                FROM unnest(_handles) AS asked (handle) JOIN installations AS i ON i.handle = asked.handle COLLATE "C"
                UNION ALL
                SELECT 1, lower(r.id), r.new_handle_at
                FROM unnest(_handles) AS asked (handle) JOIN registrations AS r ON r.handle = asked.handle COLLATE "C"
            ) AS holder
        $$
        """

    /// Inserts or replaces a device; an existing ID keeps its spelling.
    private static let save = """
        CREATE FUNCTION save_device(
            _kind smallint, _id text, _owner text, _platform text, _handle text, _document bytea, _tags text,
            _updated_at bigint, _handles text[], _now bigint
        ) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            _key text := lower(_id COLLATE "C");
            _new_handle_at bigint := device_new_handle_at(_kind, _key, _handles, _now);
        BEGIN
            IF _kind = 0 THEN
                UPDATE installations SET owner = _owner, platform = _platform, handle = _handle,
                    document = _document, updated_at = _updated_at, new_handle_at = _new_handle_at
                WHERE lower(id) = _key;
                IF NOT FOUND THEN
                    INSERT INTO installations (id, owner, platform, handle, document, updated_at, new_handle_at)
                    VALUES (_id, _owner, _platform, _handle, _document, _updated_at, _new_handle_at);
                END IF;
            ELSE
                UPDATE registrations SET owner = _owner, platform = _platform, handle = _handle, tags = _tags,
                    updated_at = _updated_at, new_handle_at = _new_handle_at
                WHERE lower(id) = _key;
                IF NOT FOUND THEN
                    INSERT INTO registrations (id, owner, platform, handle, tags, updated_at, new_handle_at)
                    VALUES (_id, _owner, _platform, _handle, _tags, _updated_at, _new_handle_at);
                END IF;
            END IF;
        END
        $$
        """

    /// Conditions: 0 owned by `_owner`, 1 claimed by `_owner`, 2 holding one of `_handles`, 3 absent, 4 any.
    /// Outcomes: 0 leased, 1 leased and added, 2 busy, 3 refused, 4 too many.
    private static let lease = """
        CREATE FUNCTION lease_device(
            _kind smallint, _id text, _condition smallint, _owner text, _handles text[], _platform text, _handle text,
            _document bytea, _updated_at bigint, _limit integer, _token bigint, _now bigint, _until bigint,
            OUT outcome smallint, OUT device_id text, OUT is_in_doubt boolean
        ) LANGUAGE plpgsql AS $$
        DECLARE
            _key text := lower(_id COLLATE "C");
            _known_owner text;
            _known_handle text;
            _count bigint;
        BEGIN
            IF _condition = 1 THEN PERFORM pg_advisory_xact_lock(1935763312, hashtext(_owner)); END IF;
            PERFORM pg_advisory_xact_lock(1935763313 + _kind, hashtext(_key));
            IF _kind = 0 THEN
                SELECT id, owner, handle INTO device_id, _known_owner, _known_handle
                FROM installations WHERE lower(id) = _key;
            ELSE
                SELECT id, owner, handle INTO device_id, _known_owner, _known_handle
                FROM registrations WHERE lower(id) = _key;
            END IF;
            outcome := 3;
            IF _condition = 0 AND _known_owner IS DISTINCT FROM _owner
                OR _condition = 1 AND _known_owner <> _owner AND _known_handle <> ALL (_handles)
                OR _condition = 2 AND (_known_handle = ANY (_handles)) IS NOT TRUE
                OR _condition = 3 AND device_id IS NOT NULL
            THEN RETURN; END IF;
            outcome := 2;
            IF EXISTS (SELECT FROM device_leases WHERE kind = _kind AND key = _key AND until > _now)
            THEN RETURN; END IF;
            outcome := 0;
            IF _condition = 1 AND _known_owner IS DISTINCT FROM _owner THEN
                SELECT count(*) INTO _count FROM installations WHERE owner = _owner AND handle <> ALL (_handles);
                SELECT _count + count(*) INTO _count FROM device_leases
                WHERE claimant = _owner AND kind = 0 AND key <> _key AND NOT EXISTS (
                    SELECT FROM installations WHERE lower(installations.id) = device_leases.key AND owner = _owner);
                IF _count >= _limit THEN outcome := 4; RETURN; END IF;
                IF device_id IS NULL THEN
                    PERFORM save_device(
                        _kind, _id, _owner, _platform, _handle, _document, NULL, _updated_at, _handles, _now);
                    outcome := 1;
                END IF;
            END IF;
            device_id := coalesce(device_id, _id);
            is_in_doubt := EXISTS (SELECT FROM device_leases WHERE kind = _kind AND key = _key);
            INSERT INTO device_leases (kind, key, id, token, until, claimant)
            VALUES (_kind, _key, device_id, _token, _until, CASE WHEN _condition = 1 THEN _owner END)
            ON CONFLICT (kind, key) DO UPDATE SET id = excluded.id, token = excluded.token,
                until = excluded.until, claimant = excluded.claimant;
        END
        $$
        """

    /// Changes: 0 keep, 1 remove, 2 save. Returns whether the lease was still held.
    private static let end = """
        CREATE FUNCTION end_device_lease(
            _kind smallint, _id text, _token bigint, _change smallint, _owner text, _platform text, _handle text,
            _document bytea, _tags text, _updated_at bigint, _handles text[], _now bigint
        ) RETURNS boolean LANGUAGE plpgsql AS $$
        DECLARE
            _key text := lower(_id COLLATE "C");
        BEGIN
            PERFORM pg_advisory_xact_lock(1935763313 + _kind, hashtext(_key));
            DELETE FROM device_leases WHERE kind = _kind AND key = _key AND token = _token;
            IF NOT FOUND THEN RETURN false; END IF;
            IF _change = 1 AND _kind = 0 THEN
                DELETE FROM installations WHERE lower(id) = _key;
            ELSIF _change = 1 THEN
                DELETE FROM registrations WHERE lower(id) = _key;
            ELSIF _change = 2 THEN
                PERFORM save_device(
                    _kind, _id, _owner, _platform, _handle, _document, _tags, _updated_at, _handles, _now);
            END IF;
            RETURN true;
        END
        $$
        """
}
