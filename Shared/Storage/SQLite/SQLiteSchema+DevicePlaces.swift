extension SQLiteSchema {
    /// The hubs at which a device may be (`HUB_POOL_FILE`); no rows without a pool. A row outlives its device until the
    /// hub has deleted the device. Keys are folded IDs.
    static let devicePlaces = """
        CREATE TABLE device_places (
            kind INTEGER NOT NULL,
            key TEXT NOT NULL COLLATE BINARY,
            hub TEXT NOT NULL COLLATE BINARY,
            content INTEGER,
            PRIMARY KEY (kind, key, hub)
        ) STRICT, WITHOUT ROWID
        """
}
