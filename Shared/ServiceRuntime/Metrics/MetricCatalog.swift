/// Every metric family of this package: the source of the `# HELP` lines, of the histograms' buckets and of
/// `docs/reference/metrics.md`. A test compares it with the output of the services.
package enum MetricCatalog {
    /// In the order of the documentation.
    package static let all: [Metric] = [
        .notificationsAccepted, .outboxPending, .outboxOldestAge, .outboxPublished, .outboxSwept, .outboxRepublished,
        .outboxUnconfirmed, .publishConfirmDuration, .purged, .purgeBatchDuration,
        .dispatchAttempts, .hubRequestDuration, .ambiguous, .laneState, .laneLimit, .laneHeld, .dispatchSettled,
        .dispatchRetries, .dispatchSkipped, .dispatchUnregistered, .withdrawn, .reminders, .silentCoalesced,
        .dispatchUnknown, .dispatchEarly, .dispatchRepeated, .redeliveries, .deadLettered, .deadLettersLost,
        .dispatchStoreFailures, .hubOutcomes, .outcomeRequests,
        .hubPushes, .hubPushDuration, .hubRetriesWaiting, .hubLaneState, .hubRemovalsSuspended, .hubDevicesRemoved,
        .hubSchedulesSetAside,
        .retrievals, .timeToFetch, .inboxRequests, .answers, .deviceShown, .devicesRemoved, .tokenRefreshes,
        .pushConnections, .pushConnectionsOpened, .pushGoaways, .pushPingsUnanswered,
        .httpRequests, .httpRequestDuration, .httpConnections, .httpConnectionsClosed, .certificateExpiry,
        .httpRequestsInFlight, .httpBodiesAwaited, .postgresConnections, .postgresConnectionLosses, .fileUnusable,
        .spansExported, .spansDropped, .passwordChecks, .logLinesDropped, .buildInfo, .residentMemory, .processCPU,
        .processStart,
    ]
}

extension MetricCatalog {
    /// The table of `docs/reference/metrics.md`, which a test compares with this: a header and a row per family.
    package static func markdownTable() -> String {
        var lines = ["| name | kind | labels | shown by | meaning |", "| --- | --- | --- | --- | --- |"]
        for metric in all {
            let labels = metric.labels.isEmpty ? "–" : metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            let services = metric.services == everyService ? "every service" : metric.services.joined(separator: ", ")
            lines.append("| `\(metric.name)` | \(metric.kind.word) | \(labels) | \(services) | \(metric.help) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The second table: the upper bounds of each histogram's buckets, in seconds.
    package static func bucketsTable() -> String {
        var lines = ["| histogram | buckets |", "| --- | --- |"]
        for metric in all {
            guard case .histogram(let buckets) = metric.kind else { continue }
            lines.append("| `\(metric.name)` | \(buckets.map(PrometheusText.number).joined(separator: " ")) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

// MARK: - Ingest

extension Metric {
    package static let notificationsAccepted = Metric(
        "securepush_notifications_accepted_total", .counter, labels: ["caller", "result"], of: ["ingest"],
        "Notifications accepted, alone or in a batch, by caller (sender, user) and result (created, replayed)."
    )
    package static let outboxPending = Metric(
        "securepush_outbox_pending", .gauge, of: ["ingest"],
        "IDs without a known confirm of the broker, including scheduled ones; counted up to 100,000.")
    package static let outboxOldestAge = Metric(
        "securepush_outbox_oldest_age_seconds", .gauge, of: ["ingest"],
        "Age of the oldest ID that has fallen due and is not confirmed.")
    package static let outboxPublished = Metric(
        "securepush_outbox_published_total", .counter, of: ["ingest"],
        "IDs that the broker has confirmed.")
    package static let outboxSwept = Metric(
        "securepush_outbox_swept_total", .counter, of: ["ingest"],
        "IDs confirmed after the sweep found them: scheduled, or left by an outage or a crash.")
    package static let outboxRepublished = Metric(
        "securepush_outbox_republished_total", .counter, of: ["ingest"],
        "IDs confirmed once more because the broker had lost them: wiped, purged or dropped.")
    package static let outboxUnconfirmed = Metric(
        "securepush_outbox_unconfirmed_total", .counter, of: ["ingest"],
        "Publishes that failed, were returned or not confirmed in time; they are tried again.")
    package static let publishConfirmDuration = Metric(
        "securepush_publish_confirm_duration_seconds", .shortDuration, of: ["ingest"],
        "Time from publishing a group of IDs to the broker's last confirm of it.")
    package static let purged = Metric(
        "securepush_purged_total", .counter, labels: ["kind"], of: ["ingest"],
        "Rows destroyed for their age, by kind (payload, notification, key).")
    package static let purgeBatchDuration = Metric(
        "securepush_purge_batch_duration_seconds", .shortDuration, of: ["ingest"],
        "Time of one batch of the purge.")
}

// MARK: - Dispatcher

extension Metric {
    package static let dispatchAttempts = Metric(
        "securepush_dispatch_attempts_total", .counter, labels: ["platform", "hub", "result", "reason"],
        of: ["dispatcher"],
        "Sends handed to the hub client, by reason and result (sent, throttled, unavailable, unanswered, rejected, "
            + "unauthorized, hub_not_found, not_sent).")
    package static let hubRequestDuration = Metric(
        "securepush_hub_request_duration_seconds", .duration, labels: ["platform", "hub", "code"],
        of: ["dispatcher"],
        "Time from handing a request to the hub client to its end; code is the status, timeout or connection.")
    package static let ambiguous = Metric(
        "securepush_ambiguous_total", .counter, labels: ["reason"], of: ["dispatcher"],
        "Requests whose result is unknown, by reason (timeout, connection, shutdown, claimed); the hub may have "
            + "accepted them.")
    package static let laneState = Metric(
        "securepush_lane_state", .gauge, labels: ["platform", "hub"], of: ["dispatcher"],
        "0: the lane is open; 1: paused or slow; 2: the hub refuses the credentials or does not exist.")
    package static let laneLimit = Metric(
        "securepush_lane_limit", .gauge, labels: ["platform", "hub"], of: ["dispatcher"],
        "Requests that the lane may have in flight.")
    package static let laneHeld = Metric(
        "securepush_lane_held_total", .counter, labels: ["platform", "hub"], of: ["dispatcher"],
        "Sends that a paused or slow lane held; they come back through a delay queue and use up no attempt.")
    package static let dispatchSettled = Metric(
        "securepush_dispatch_settled_total", .counter, of: ["dispatcher"],
        "Deliveries acknowledged after their outcome was stored.")
    package static let dispatchRetries = Metric(
        "securepush_dispatch_retries_total", .counter, of: ["dispatcher"],
        "Messages published to the delay queues: failed, throttled or held.")
    package static let dispatchSkipped = Metric(
        "securepush_dispatch_skipped_total", .counter, of: ["dispatcher"],
        "Notifications not sent because they had expired or were revoked.")
    package static let dispatchUnregistered = Metric(
        "securepush_dispatch_unregistered_total", .counter, labels: ["platform"], of: ["dispatcher"],
        "Hub requests saved because the recipient has no device on the platform (DISPATCH_REGISTERED_ONLY).")
    package static let withdrawn = Metric(
        "securepush_withdrawn_total", .counter, labels: ["platform"], of: ["dispatcher"],
        "Withdrawals that the hub accepted (DISPATCH_WITHDRAW).")
    package static let reminders = Metric(
        "securepush_reminders_total", .counter, of: ["dispatcher"],
        "Reminders that the hub accepted for at least one platform; each step of Remind counts once.")
    package static let silentCoalesced = Metric(
        "securepush_silent_coalesced_total", .counter, of: ["dispatcher"],
        "Silent pushes saved because another push of the recipient covers the notification "
            + "(SILENT_PUSH_MIN_INTERVAL).")
    package static let dispatchUnknown = Metric(
        "securepush_dispatch_unknown_total", .counter, of: ["dispatcher"],
        "Well-formed IDs that the store does not know.")
    package static let dispatchEarly = Metric(
        "securepush_dispatch_early_total", .counter, of: ["dispatcher"],
        "Messages of notifications whose NotBefore had not come; they wait for it, or the outbox publishes the ID "
            + "when it is due.")
    package static let dispatchRepeated = Metric(
        "securepush_dispatch_repeated_total", .counter, of: ["dispatcher"],
        "Deliveries of an ID that was in flight already; they get the same outcome.")
    package static let redeliveries = Metric(
        "securepush_redeliveries_total", .counter, of: ["dispatcher"],
        "Deliveries that the broker had delivered before.")
    package static let deadLettered = Metric(
        "securepush_dead_lettered_total", .counter, labels: ["reason"], of: ["dispatcher"],
        "Messages moved to the dead-letter queue, by reason (attempts, http_400, http_413, http_other and other "
            + "refusals of the hub, invalid, unreadable, record, redelivered).")
    package static let deadLettersLost = Metric(
        "securepush_dead_letters_lost_total", .counter, of: ["dispatcher"],
        "Dead letters that were given up because the broker took none for long; the record says dead.")
    package static let dispatchStoreFailures = Metric(
        "securepush_dispatch_store_failures_total", .counter, labels: ["operation"], of: ["dispatcher"],
        "Statements of the store that failed, by operation (claim, record); they are tried again.")
    package static let hubOutcomes = Metric(
        "securepush_hub_outcomes_total", .counter, labels: ["platform", "outcome"], of: ["dispatcher"],
        "Devices by the outcome that the hub reports, such as Success or BadChannel; a message without a device "
            + "counts once, by its state (SecurePush's own hub at once, others with HUB_TELEMETRY).")
    package static let outcomeRequests = Metric(
        "securepush_outcome_requests_total", .counter, labels: ["result"], of: ["dispatcher"],
        "Requests to the hub for the outcome of a message, by result (outcome, none: not known yet or not any "
            + "more, throttled, refused, failed).")
}

// MARK: - Hub

extension Metric {
    package static let hubPushes = Metric(
        "securepush_hub_pushes_total", .counter, labels: ["hub", "platform", "outcome"], of: ["hub"],
        "Tries of pushes at push services, by outcome; Throttled, PnsServerError, PnsUnreachable and "
            + "PnsCredentialError are tried again.")
    package static let hubPushDuration = Metric(
        "securepush_hub_push_duration_seconds", .duration, labels: ["hub", "platform"], of: ["hub"],
        "Time from a try of a push to the answer of its push service, or to its end without one.")
    package static let hubRetriesWaiting = Metric(
        "securepush_hub_retries_waiting", .gauge, labels: ["hub", "platform"], of: ["hub"],
        "Stored pushes that are to be tried again; counted up to 100,000.")
    package static let hubLaneState = Metric(
        "securepush_hub_lane_state", .gauge, labels: ["hub", "platform"], of: ["hub"],
        "0: the platform is pushed to; 1: its push service throttles, fails or cannot be reached; 2: it refuses the "
            + "credentials, and is probed every 30 s.")
    package static let hubRemovalsSuspended = Metric(
        "securepush_hub_removals_suspended", .gauge, labels: ["hub", "platform"], of: ["hub"],
        "1 while devices that are refused as another app's or environment's are not removed, because too many are.")
    package static let hubDevicesRemoved = Metric(
        "securepush_hub_devices_removed_total", .counter, labels: ["hub", "platform", "outcome"], of: ["hub"],
        "Devices removed because their push service refused them, by outcome (ExpiredChannel, BadChannel, WrongToken).")
    package static let hubSchedulesSetAside = Metric(
        "securepush_hub_schedules_set_aside_total", .counter, labels: ["hub"], of: ["hub"],
        "Scheduled notifications that are not sent, because their stored form cannot be read.")
}

// MARK: - Retrieval

extension Metric {
    package static let retrievals = Metric(
        "securepush_retrievals_total", .counter, labels: ["result"], of: ["retrieval"],
        "Requests for a notification, by result (ok, not_found, gone, unauthorized).")
    package static let timeToFetch = Metric(
        "securepush_time_to_fetch_seconds", .delay, of: ["retrieval"],
        "Time from accepting a notification until a device of the recipient first reads it.")
    package static let inboxRequests = Metric(
        "securepush_inbox_requests_total", .counter, of: ["retrieval"], "Inbox pages answered.")
    package static let answers = Metric(
        "securepush_answers_total", .counter, labels: ["result"], of: ["retrieval"],
        "Answers by result (ok, repeated: the same again, other: 409, gone: 410, wrong_challenge, failed: the wrong "
            + "challenge that ended the question).")
    package static let deviceShown = Metric(
        "securepush_device_shown_total", .counter, labels: ["platform", "text", "code"], of: ["retrieval"],
        "Reports of devices that have shown a notification, by text (secret, generic) and code (such as SP-KEY, other "
            + "for one that this version does not know, none). The platform is that of the installation, or unknown.")
    package static let devicesRemoved = Metric(
        "securepush_devices_removed_total", .counter, labels: ["reason"], of: ["retrieval"],
        "Devices removed, by reason (user: by its user, takeover: its handle was registered again, gone: 410 from "
            + "the hub, rejected: refused by the hub later, dead_channel: the hub's feedback, expired: its "
            + "expirationTime, unseen: DEVICE_STALE_AFTER).")
    package static let tokenRefreshes = Metric(
        "securepush_token_refreshes_total", .counter, labels: ["result"], of: ["retrieval"],
        "Refreshes of tokens, by result (ok, repeated: the same again within 60 s, reused: the token had been used "
            + "before and its family was removed, refused: unknown, expired, or its user was removed or has "
            + "another password).")
}

// MARK: - Hub

extension Metric {
    package static let pushConnections = Metric(
        "securepush_push_connections", .gauge, labels: ["client"], of: ["hub"],
        "Open connections to push services, by client (webpush, apns, fcm, wns).")
    package static let pushConnectionsOpened = Metric(
        "securepush_push_connections_opened_total", .counter, labels: ["client", "result"], of: ["hub"],
        "Connections to push services that were opened, or could not be (failed).")
    package static let pushGoaways = Metric(
        "securepush_push_goaways_total", .counter, labels: ["client"], of: ["hub"],
        "Connections of HTTP/2 that a push service ended by GOAWAY.")
    package static let pushPingsUnanswered = Metric(
        "securepush_push_pings_unanswered_total", .counter, labels: ["client"], of: ["hub"],
        "Connections of HTTP/2 that were closed because the push service did not answer a PING.")
}

// MARK: - Several services

extension Metric {
    package static let httpRequests = Metric(
        "securepush_http_requests_total", .counter, labels: ["method", "route", "status"], of: everyService,
        "HTTP requests answered, by method, route and status.")
    package static let httpRequestDuration = Metric(
        "securepush_http_request_duration_seconds", .duration, labels: ["method", "route", "status"],
        of: everyService, "Time from the head of a request to the head of its answer.")
    package static let httpConnections = Metric(
        "securepush_http_connections", .gauge, of: everyService, "Open connections of clients.")
    package static let httpConnectionsClosed = Metric(
        "securepush_http_connections_closed_total", .counter, labels: ["reason"], of: everyService,
        "Connections ended by a limit or deadline: limit, address, evicted, handshake, idle, header, body, "
            + "waiting, drain, write, frames."
    )
    package static let certificateExpiry = Metric(
        "securepush_certificate_expiry_seconds", .gauge, of: everyService,
        "Time until the first certificate of the TLS chain expires; negative afterwards. Only with HTTPS.")
    package static let httpRequestsInFlight = Metric(
        "securepush_http_requests_in_flight", .gauge, of: everyService,
        "HTTP requests in flight, without those of operators, and answers that wait for their clients; "
            + "HTTP_MAX_IN_FLIGHT is their limit.")
    package static let httpBodiesAwaited = Metric(
        "securepush_http_bodies_awaited", .gauge, of: everyService,
        "HTTP requests whose bodies have not arrived. They are not in flight.")
    package static let postgresConnections = Metric(
        "securepush_postgres_connections", .gauge, of: servicesWithStore,
        "Open connections to PostgreSQL.")
    package static let postgresConnectionLosses = Metric(
        "securepush_postgres_connection_losses_total", .counter, of: servicesWithStore,
        "Connections to PostgreSQL that broke.")
    package static let fileUnusable = Metric(
        "securepush_file_unusable", .gauge, labels: ["file"], of: servicesWithStore,
        "1 if the file or URL that the setting names (keys, credentials, the audit log) cannot be used, else 0.")
    package static let spansExported = Metric(
        "securepush_spans_exported_total", .counter, of: servicesWithStore,
        "Spans that the collector took. Only with OTEL_EXPORTER_OTLP_ENDPOINT.")
    package static let spansDropped = Metric(
        "securepush_spans_dropped_total", .counter, labels: ["reason"], of: servicesWithStore,
        "Spans that were lost, by reason (queue: full, unreachable: no answer after several tries, refused: the "
            + "collector's answer, rejected: left out of a batch that it took, shutdown).")
    package static let passwordChecks = Metric(
        "securepush_password_checks_total", .counter, labels: ["result"], of: ["ingest", "retrieval"],
        "Passwords presented, by result (accepted, wrong, throttled: not checked after failures, busy: queue full)."
    )
    package static let logLinesDropped = Metric(
        "securepush_log_lines_dropped_total", .counter, of: everyService,
        "Lines of the log (standard error) that were dropped because nobody read them, or the disk was full.")
    package static let buildInfo = Metric(
        "securepush_build_info", .gauge, labels: ["version", "revision", "service", "swift"], of: everyService,
        "Always 1; the labels tell the version, git revision, service and Swift release.")
    package static let residentMemory = Metric(
        "process_resident_memory_bytes", .gauge, of: everyService, "Resident memory size in bytes (Linux).")
    package static let processCPU = Metric(
        "process_cpu_seconds_total", .counter, of: everyService, "Total user and system CPU time spent in seconds.")
    package static let processStart = Metric(
        "process_start_time_seconds", .gauge, of: everyService,
        "Start time of the process since unix epoch in seconds (Linux).")
}

/// Those that open the store make spans too, and watch files.
private let servicesWithStore = ["ingest", "dispatcher", "retrieval", "operator", "hub"]
private let everyService = ["ingest", "dispatcher", "retrieval", "operator", "hub", "hub-emulator"]
