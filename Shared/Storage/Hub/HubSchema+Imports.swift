extension HubSchema {
    /// How far each file of registrations was imported. `file` is a hash of the file.
    static let imports: [SQL] = [
        """
        CREATE TABLE hub_imports (
            hub \(.text) NOT NULL,
            file \(.text) NOT NULL,
            exported_at \(.integer) NOT NULL,
            done_bytes \(.integer) NOT NULL,
            done_lines \(.integer) NOT NULL,
            counts \(.text) NOT NULL,
            updated_at \(.integer) NOT NULL,
            PRIMARY KEY (hub, file)
        ) \(.table)
        """
    ]
}
