extension HubSchema {
    /// The progress of the import of each file of registrations. `file` is a hash of the file.
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
