extension PostgresMigration {
    // Replaces a function and touches no row. A retrieval of the previous version calls it with the same arguments, and
    // then counts registrations too where it claims an installation.
    static let deviceLimit = PostgresMigration(
        version: 15, name: "0015_device_limit", statements: [leaseWithLimit])

    /// `lease_device` of `0005_devices`, which counts the registrations and installations of a user together: those
    /// that are stored and those that the user is claiming now. Devices with one of `_handles` are about to be
    /// replaced. A registration without a platform is not, because it has no device yet.
    ///
    /// Conditions: 0 owned by `_owner`, 1 claimed by `_owner`, 2 holding one of `_handles`, 3 absent, 4 any, 5 new for
    /// `_owner`. Outcomes: 0 leased, 1 leased and added, 2 busy, 3 refused, 4 too many.
    private static let leaseWithLimit = """
        CREATE OR REPLACE FUNCTION lease_device(
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
            IF _condition IN (1, 5) THEN PERFORM pg_advisory_xact_lock(1935763312, hashtext(_owner)); END IF;
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
                OR _condition IN (3, 5) AND device_id IS NOT NULL
            THEN RETURN; END IF;
            outcome := 2;
            IF EXISTS (SELECT FROM device_leases WHERE kind = _kind AND key = _key AND until > _now)
            THEN RETURN; END IF;
            outcome := 0;
            IF _condition IN (1, 5) AND _known_owner IS DISTINCT FROM _owner THEN
                SELECT
                    (SELECT count(*) FROM installations WHERE owner = _owner AND handle <> ALL (_handles))
                    + (SELECT count(*) FROM registrations
                        WHERE owner = _owner AND (platform IS NULL OR handle <> ALL (_handles)) IS NOT FALSE)
                    + (SELECT count(*) FROM device_leases AS lease
                        WHERE claimant = _owner AND (kind, key) <> (_kind, _key)
                            AND NOT EXISTS (
                                SELECT FROM installations AS i
                                WHERE lease.kind = 0 AND lower(i.id) = lease.key AND i.owner = _owner)
                            AND NOT EXISTS (
                                SELECT FROM registrations AS r
                                WHERE lease.kind = 1 AND lower(r.id) = lease.key AND r.owner = _owner))
                INTO _count;
                IF _count >= _limit THEN outcome := 4; RETURN; END IF;
                IF _condition = 1 AND device_id IS NULL THEN
                    PERFORM save_device(
                        _kind, _id, _owner, _platform, _handle, _document, NULL, _updated_at, _handles, _now);
                    outcome := 1;
                END IF;
            END IF;
            device_id := coalesce(device_id, _id);
            is_in_doubt := EXISTS (SELECT FROM device_leases WHERE kind = _kind AND key = _key);
            INSERT INTO device_leases (kind, key, id, token, until, claimant)
            VALUES (_kind, _key, device_id, _token, _until, CASE WHEN _condition IN (1, 5) THEN _owner END)
            ON CONFLICT (kind, key) DO UPDATE SET id = excluded.id, token = excluded.token,
                until = excluded.until, claimant = excluded.claimant;
        END
        $$
        """
}
