extension ConfigurationKey {
    /// Makes what this setting names, such as the key ring of a file, when the service is built.
    ///
    /// - Throws: ``ConfigurationError`` that names this key, whatever `make` throws: what the setting names is there
    ///   and cannot be used, which exits 78 like a setting that cannot be read.
    public func making<Made>(_ make: () throws -> Made) throws(ConfigurationError) -> Made {
        do {
            return try make()
        } catch {
            throw ConfigurationError(name, "cannot be used: \(error)")
        }
    }
}
