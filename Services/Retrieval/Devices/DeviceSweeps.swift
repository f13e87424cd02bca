import Domain
import Foundations
import Logging
import ServiceRuntime

/// The background work on devices.
///
/// - Parameters:
///   - staleAfter: `DEVICE_STALE_AFTER`.
///   - feedback: reads the feedback of the hub, or of each hub, with `HUB_TELEMETRY`.
func deviceSweeps(
    _ changes: DeviceChanges, staleAfter: Duration = .seconds(270 * 86_400), feedback: DeadChannelSweep.Source? = nil,
    logger: Logger
) -> [Sweep] {
    let reconciler = HubReconciler(changes: changes, logger: logger)
    let search = NewHandleSearch(changes: changes, logger: logger)
    let due = DueDeviceSweep(changes: changes, staleAfter: staleAfter, logger: logger)
    let strays = StrayDeviceSweep(changes: changes, logger: logger)
    let deadChannels = feedback.map { DeadChannelSweep(changes: changes, feedback: $0, logger: logger) }
    return [
        Sweep { await reconciler.sweep() }, Sweep { await search.searchNext() }, Sweep { await due.sweep() },
        strays.map { strays in Sweep { await strays.sweep() } },
        deadChannels.map { deadChannels in Sweep { await deadChannels.sweep() } },
    ].compactMap(\.self)
}

extension LastingProblemLog {
    /// Notes why a sweep of devices failed.
    ///
    /// - Parameters:
    ///   - interval: the usual pause.
    ///   - refusalPause: the pause if the hub refuses the credentials or the request; `nil` for the usual one.
    /// - Returns: the pause before the next sweep.
    func pause(
        afterSweep error: any Error, interval: Duration, ifRefused refusalPause: Duration? = nil, to logger: Logger
    ) -> Duration {
        switch error {
        case let error as PushGatewayError:
            failed("\(error.code)", to: logger)
            let isRefusal = error.code == .unauthorized || error.code == .rejected
            return max(error.retryAfter ?? .zero, isRefusal ? refusalPause ?? interval : interval)
        case let error as StorageError where error.isRetriable:
            // While the service starts, and while the database is unavailable, which other log lines report.
            logger.debug("The store was not available to a sweep of devices", metadata: ["error": "\(error)"])
        default: failed("\(error)", to: logger)
        }
        return interval
    }
}
