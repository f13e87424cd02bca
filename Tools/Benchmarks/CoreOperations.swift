import Domain
import HTTPTypes
import Logging
import Metrics
import ServiceConfiguration

@testable import Retrieval
@testable import ServiceRuntime

extension Operation {
    static var payloads: [Operation] {
        [
            sealing("payload.seal.1KiB", 1024, count: 1500), sealing("payload.seal.256KiB", 262_144, count: 20),
            opening("payload.open.1KiB", 1024, count: 1500), opening("payload.open.256KiB", 262_144, count: 20),
            .repeating("id.parse-and-format", count: 20_000) { _ in
                let text = NotificationID().description
                return {
                    guard let id = NotificationID(text) else { throw Unexpected("It is not an ID.") }
                    keep(id.description)
                }
            },
        ]
    }

    /// What services do beside their work.
    static var operations: [Operation] {
        [
            .repeating("metrics.count-and-time", count: 20_000) { _ in
                let metrics = PrometheusMetrics()
                let counter = Counter(label: "securepush_dispatch_settled_total", factory: metrics)
                let timer = Timer(
                    label: "securepush_time_to_fetch_seconds", dimensions: [], preferredDisplayUnit: .seconds,
                    factory: metrics)
                return {
                    counter.increment()
                    timer.recordMilliseconds(12)
                }
            },
            Operation.repeating("metrics.render", count: 30) { _ in
                let context = ServiceContext(name: "retrieval", logger: Samples.logger, metrics: PrometheusMetrics())
                keep(RetrievalMetrics(context.metrics))
                for route in ["/api/notifications", "/api/notifications/{id}", "/api/token", "/api/installations/{id}"]
                {
                    context.boundary.finish(
                        .get, route: route, status: .ok, elapsed: .milliseconds(2), logs: false, logger: Samples.logger)
                }
                return { keep(context.metrics.exposition()) }
            },
            .repeating("log.json-line", count: 1000) { _ in
                let logger = Logger(label: "outbox") { JSONLogHandler(label: $0, service: "ingest") { keep($0) } }
                return {
                    logger.info(
                        "Notification accepted",
                        metadata: ["notification_id": "0199d0a4-6c1f-7d7e-8b0a-5f9f3c1e2d4b", "count": "3"])
                }
            },
        ]
    }

    private static func sealing(_ name: String, _ size: Int, count: Int) -> Operation {
        .repeating(name, count: count) { folder in
            let (sealer, payload, id) = (try Samples.sealer(folder), Samples.payload(size), NotificationID())
            return { keep(try sealer.seal(payload, id: id, recipient: Samples.recipient)) }
        }
    }

    private static func opening(_ name: String, _ size: Int, count: Int) -> Operation {
        .repeating(name, count: count) { folder in
            let (sealer, id) = (try Samples.sealer(folder), NotificationID())
            let sealed = try sealer.seal(Samples.payload(size), id: id, recipient: Samples.recipient)
            return { keep(try sealer.open(sealed, id: id, recipient: Samples.recipient)) }
        }
    }
}
