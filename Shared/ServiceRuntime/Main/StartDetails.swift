package import Logging

/// A configuration that a service logs when it starts, so that an operator sees which parts it talks to.
package protocol StartDetails {
    /// The values that matter when something is wrong: addresses, names and kinds. Never a password, key or token.
    var startDetails: Logger.Metadata { get }
}

extension ServiceContext {
    /// Logs the version and the configuration: one line per start, before the parts are built.
    func logStart(_ configuration: some Sendable) {
        var metadata = (configuration as? any StartDetails)?.startDetails ?? [:]
        metadata["version"] = "\(version)"
        metadata["revision"] = "\(SecurePushVersion.revision)"
        metadata["swift"] = "\(SecurePushVersion.swift)"
        logger.info("Starting", metadata: metadata)
    }
}
