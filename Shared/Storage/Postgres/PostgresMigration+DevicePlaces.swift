extension PostgresMigration {
    // The hubs at which a device may be (HUB_POOL_FILE); no rows without a pool. A row outlives its device until the
    // hub has deleted the device. Keys are folded IDs.
    static let devicePlaces = PostgresMigration(
        version: 14, name: "0014_device_places",
        statements: [
            """
            CREATE TABLE device_places (
                kind smallint NOT NULL,
                key text COLLATE "C" NOT NULL,
                hub text COLLATE "C" NOT NULL,
                content bigint,
                PRIMARY KEY (kind, key, hub)
            )
            """
        ])
}
