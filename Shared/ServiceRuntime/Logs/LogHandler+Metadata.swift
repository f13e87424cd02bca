import Logging

extension LogHandler {
    /// The event's metadata over the logger's own over the provider's, sorted by key, with the error of the event.
    func merged(with event: LogEvent) -> [(key: String, value: Logger.MetadataValue)] {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { own, _ in own } }
        if let given = event.metadata { all.merge(given) { _, given in given } }
        if let error = event.error {
            all[LogKeys.errorType] = "\(String(reflecting: type(of: error)))"
            all[LogKeys.errorMessage] = "\(String(describing: error))"
        }
        if let identifier = all.removeValue(forKey: LogKeys.requestID) { all[LogKeys.requestIDShown] = identifier }
        return all.sorted { $0.key < $1.key }
    }
}
