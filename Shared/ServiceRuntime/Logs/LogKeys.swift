/// Metadata keys that more than one file uses.
enum LogKeys {
    /// Hummingbird's key for the request's ID; shown as ``requestIDShown``.
    static let requestID = "hb.request.id"
    static let requestIDShown = "request_id"
    static let errorType = "error.type"
    static let errorMessage = "error.message"
}
