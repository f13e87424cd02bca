/// The result of one wake.
public struct WakeReport: Sendable, Hashable {
    /// For the completion handler of a silent push: `UIBackgroundFetchResult` has the same cases.
    public enum Result: Sendable, Hashable {
        /// Something was fetched, shown or removed.
        case newData
        /// There was nothing to do.
        case noData
        /// Something could not be fetched.
        case failed
    }

    /// The result.
    public var result: Result
    /// The notifications whose secrets were shown, in this order.
    public var shown: [PushID]
    /// The notifications for which the user sees the generic text or the prompt.
    public var waiting: [PushID]
    /// Why not everything was shown; the first reason.
    public var code: DiagnosticCode?

    /// Makes a report.
    public init(result: Result = .noData, shown: [PushID] = [], waiting: [PushID] = [], code: DiagnosticCode? = nil) {
        self.result = result
        self.shown = shown
        self.waiting = waiting
        self.code = code
    }
}

/// Why a request of the app failed. The code says more.
public struct SecurePushFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason.
    public let code: DiagnosticCode
    /// The device is registered under this ID, and gets what is not encrypted; only the server may not have its key.
    /// `nil` for every other failure.
    public let installationID: String?

    /// Makes an error.
    public init(code: DiagnosticCode, installationID: String? = nil) {
        self.code = code
        self.installationID = installationID
    }

    /// The failure in one English sentence, with its code. It contains no secret.
    public var description: String {
        installationID == nil
            ? "The request to the retrieval service failed (\(code))."
            : "The device is registered, but its key for end-to-end encryption is not (\(code))."
    }
}
