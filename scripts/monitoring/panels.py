"""The panels of the Grafana dashboards. `dashboards.py` writes them as JSON, `live.py` runs their queries.

A target is (query, legend). `$__rate_interval`, `$__range` and `$service` are Grafana's variables.
"""

RATE = "$__rate_interval"


def rate(metric, by="", where="", scale=""):
    """The sum of a counter's rate, by labels."""
    group = f" by ({by})" if by else ""
    return f"sum{group} (rate({metric}{{{where}}}[{RATE}])){scale}"


def total(metric, where=""):
    """How much a counter grew over the time shown."""
    return f"sum(increase({metric}{{{where}}}[$__range]))"


def quantile(share, metric, by=""):
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) (rate({metric}_bucket[{RATE}])))"


def quantiles(metric, legend=""):
    return [(quantile(share, metric), f"{legend}p{round(share * 100)}") for share in (0.5, 0.95, 0.99)]


def panel(title, description, targets, *, kind="timeseries", unit="short", width=8, height=7, **options):
    return {"title": title, "description": description, "targets": targets, "kind": kind, "unit": unit,
            "width": width, "height": height, **options}


def stat(title, description, query, unit="short", **options):
    return panel(title, description, [(query, "")], kind="stat", unit=unit, width=4, height=4, **options)


LANES = {"0": ("open", "green"), "1": ("paused", "orange"), "2": ("refused", "red")}
SENT = 'result="sent"'

OVERVIEW = [
    ("Funnel", [
        stat("Accepted", "Notifications that ingest accepted in the time shown, without replays.",
             total("securepush_notifications_accepted_total", 'result="created"')),
        stat("Published", "IDs that RabbitMQ confirmed in the time shown.", total("securepush_outbox_published_total")),
        stat("Waiting", "Messages in securepush.dispatch now, in flight in dispatchers included.",
             'sum(rabbitmq_queue_messages{queue="securepush.dispatch"})'),
        stat("Sent", "Sends that the hub accepted in the time shown: one for each platform of a notification.",
             total("securepush_dispatch_attempts_total", SENT)),
        stat("Fetched", "Requests in the time shown that got a payload.",
             total("securepush_retrievals_total", 'result="ok"')),
        stat("Dead-lettered",
             "Messages moved to the dead-letter queue in the time shown. Remove the cause, then replay them.", "sum(increase(securepush_dead_lettered_total[$__range])) or vector(0)", alarm=1),
        panel("Funnel per second", "A step that lies below the one before it holds notifications back.", [
            (rate("securepush_notifications_accepted_total"), "accepted"),
            (rate("securepush_outbox_published_total"), "published"),
            (rate("securepush_dispatch_attempts_total", where=SENT), "sent, once per platform"),
            (rate("securepush_retrievals_total", where='result="ok"'), "fetched")], unit="ops", width=12, height=8),
        panel("Time from the request to the first read",
              "How long users wait. Phones that are off or offline make it long.",
              quantiles("securepush_time_to_fetch_seconds"), unit="s", width=12, height=8),
    ]),
    ("Backlog", [
        panel("Outbox", "IDs without a confirm of the broker, including scheduled ones.",
              [("max(securepush_outbox_pending)", "pending")]),
        panel("Age of the oldest ID that is due", "Above 30 s the broker does not take IDs.",
              [("max(securepush_outbox_oldest_age_seconds)", "age")], unit="s"),
        panel("Queue securepush.dispatch", "Ready messages wait for a dispatcher; unacknowledged ones are in flight.", [
            ('sum(rabbitmq_queue_messages_ready{queue="securepush.dispatch"})', "ready"),
            ('sum(rabbitmq_queue_messages_unacked{queue="securepush.dispatch"})', "unacknowledged")]),
    ]),
    ("Requests", [
        panel("Requests by status", "HTTP requests of all services.",
              [(rate("securepush_http_requests_total", "status", 'route!~"/(livez|readyz|metrics)"'), "{{status}}")],
              unit="reqps"),
        panel("Time of requests to ingest and retrieval, p99", "From the head of a request to the head of its answer.",
              [("histogram_quantile(0.99, sum by (le, route) (rate(securepush_http_request_duration_seconds_bucket"
                f'{{route=~"/api/.*"}}[{RATE}])))', "{{route}}")], unit="s"),
        panel("Requests for a notification by result",
              "unauthorized and not_found grow when somebody guesses IDs or passwords.",
              [(rate("securepush_retrievals_total", "result"), "{{result}}")], unit="reqps"),
    ]),
    ("Services", [
        panel("Version", "Which versions run.",
              [("sum by (service, version) (securepush_build_info)", "{{service}} {{version}}")],
              kind="table", width=12),
        panel("Processes", "How many of each service answer Prometheus.",
              [("count by (service) (securepush_build_info)", "{{service}}")], width=12),
    ]),
]

DISPATCH = [
    ("Lanes", [
        panel("State of the lanes",
              "open: the lane sends. paused: the platform throttles, fails or is slow. "
              "refused: the hub refuses the credentials, or does not exist.",
              [("max by (platform, hub) (securepush_lane_state)", "{{platform}} {{hub}}")],
              kind="state-timeline", width=12, states=LANES),
        panel("Requests a lane may have in flight",
              "It falls while the hub throttles, fails or is slow, and rises again.",
              [("sum by (platform) (securepush_lane_limit)", "{{platform}}")], width=12),
        panel("Held sends", "Sends that a paused or slow lane put into a delay queue. They use up no attempt.",
              [(rate("securepush_lane_held_total", "platform"), "{{platform}}")], unit="ops", width=12),
        panel("Messages for the delay queues", "Failed, throttled or held.",
              [(rate("securepush_dispatch_retries_total"), "retries")], unit="ops", width=12),
    ]),
    ("Hub", [
        panel("Sends that the hub accepted", "By platform.",
              [(rate("securepush_dispatch_attempts_total", "platform", SENT), "{{platform}}")], unit="ops"),
        panel("Sends that failed", "By result and reason.",
              [(rate("securepush_dispatch_attempts_total", "platform, result, reason", 'result!="sent"'),
                "{{platform}} {{result}} {{reason}}")], unit="ops"),
        panel("Answers of the hub", "By status code; `timeout` and `connection` are no answers.",
              [(rate("securepush_hub_request_duration_seconds_count", "code"), "{{code}}")], unit="ops"),
        panel("Time of hub requests, p50", "By platform.",
              [(quantile(0.5, "securepush_hub_request_duration_seconds", "platform"), "{{platform}}")], unit="s"),
        panel("Time of hub requests, p99", "By platform.",
              [(quantile(0.99, "securepush_hub_request_duration_seconds", "platform"), "{{platform}}")], unit="s"),
        panel("Requests whose result is unknown", "The hub may have accepted them. They are the cause of duplicates.",
              [(rate("securepush_ambiguous_total", "reason"), "{{reason}}")], unit="ops"),
        panel("Results at devices", "The push services' results, as the hub reports them (HUB_TELEMETRY).",
              [(rate("securepush_hub_outcomes_total", "platform, outcome"), "{{platform}} {{outcome}}")],
              unit="ops", width=12),
        panel("Requests for outcomes", "By result. none: the hub has no final outcome yet.",
              [(rate("securepush_outcome_requests_total", "result"), "{{result}}")], unit="ops", width=12),
    ]),
    ("Push services (your own hub)", [
        panel("State of the platforms",
              "open: pushes go out. paused: the push service throttles, fails or cannot be reached. "
              "refused: it refuses the credentials.",
              [("max by (platform, hub) (securepush_hub_lane_state)", "{{platform}} {{hub}}")],
              kind="state-timeline", width=12, states=LANES),
        panel("Pushes by outcome", "Tries at push services; some outcomes are tried again.",
              [(rate("securepush_hub_pushes_total", "platform, outcome"), "{{platform}} {{outcome}}")], unit="ops",
              width=12),
        panel("Answer of a push service", "Of the slowest hundredth, by platform.",
              [(quantile(0.99, "securepush_hub_push_duration_seconds", "platform"), "{{platform}}")], unit="s"),
        panel("Retries waiting", "Stored pushes that are to be tried again.",
              [("max by (platform, hub) (securepush_hub_retries_waiting)", "{{platform}} {{hub}}")]),
        panel("Devices removed", "Their push service refused them for good.",
              [(rate("securepush_hub_devices_removed_total", "platform, outcome"), "{{platform}} {{outcome}}")],
              unit="ops"),
    ]),
    ("Outcome", [
        panel("Dead-lettered", "By reason.",
              [(rate("securepush_dead_lettered_total", "reason"), "{{reason}}")], unit="ops"),
        panel("Not sent",
              "Expired or revoked before their turn, without a device on the platform, or not in the store.", [
            (rate("securepush_dispatch_skipped_total"), "expired or revoked"),
            (rate("securepush_dispatch_unregistered_total"), "no device"),
            (rate("securepush_dispatch_unknown_total"), "unknown ID")], unit="ops"),
        panel("Delivered again", "Redelivered by the broker, or in flight already.", [
            (rate("securepush_redeliveries_total"), "redelivered"),
            (rate("securepush_dispatch_repeated_total"), "in flight already")], unit="ops"),
        panel("Withdrawals, reminders, shared pushes", "Follow-ups that the hub accepted, and silent pushes saved.", [
            (rate("securepush_withdrawn_total"), "withdrawals"),
            (rate("securepush_reminders_total"), "reminders"),
            (rate("securepush_silent_coalesced_total"), "shared pushes")], unit="ops"),
        panel("Settled by each dispatcher", "An idle one among busy ones is stuck.",
              [(rate("securepush_dispatch_settled_total", "instance"), "{{instance}}")], unit="ops"),
        panel("Devices removed", "By reason.",
              [(rate("securepush_devices_removed_total", "reason"), "{{reason}}")], unit="ops"),
    ]),
]

STORES = [
    ("PostgreSQL", [
        panel("Open connections", "By service. The sum must stay below PostgreSQL's `max_connections`.",
              [("sum by (service) (securepush_postgres_connections * on (instance) group_left (service) "
                "securepush_build_info)", "{{service}}")]),
        panel("Connections that broke", "Restarts and fail-overs of PostgreSQL, and network faults.",
              [(rate("securepush_postgres_connection_losses_total"), "broken")], unit="ops"),
        panel("Statements that failed", "Of dispatchers, by operation. They are tried again.",
              [(rate("securepush_dispatch_store_failures_total", "operation"), "{{operation}}")], unit="ops"),
        panel("Rows destroyed for their age", "By kind. It must keep up with expiry.",
              [(rate("securepush_purged_total", "kind"), "{{kind}}")], unit="ops", width=12),
        panel("Time of a purge batch, p99", "A long batch holds locks.",
              [(quantile(0.99, "securepush_purge_batch_duration_seconds"), "p99")], unit="s", width=12),
    ]),
    ("Publishing", [
        panel("Time to the broker's confirm", "From publishing a group of IDs to the last confirm.",
              quantiles("securepush_publish_confirm_duration_seconds"), unit="s"),
        panel("Published again", "Lost by the broker, or not confirmed in time.", [
            (rate("securepush_outbox_republished_total"), "lost by the broker"),
            (rate("securepush_outbox_unconfirmed_total"), "not confirmed")], unit="ops"),
        panel("Confirmed after a sweep", "Scheduled, or left by an outage or a crash.",
              [(rate("securepush_outbox_swept_total"), "swept")], unit="ops"),
    ]),
    ("RabbitMQ", [
        panel("Ready messages", "By queue. `securepush.dead` holds the dead letters.",
              [('sum by (queue) (rabbitmq_queue_messages_ready{queue=~"securepush[.].*"})', "{{queue}}")]),
        panel("Unacknowledged messages", "In flight in dispatchers.",
              [('sum by (queue) (rabbitmq_queue_messages_unacked{queue=~"securepush[.].*"})', "{{queue}}")]),
        panel("Consumers of securepush.dispatch", "One for each dispatcher.",
              [('sum(rabbitmq_queue_consumers{queue="securepush.dispatch"})', "consumers")]),
        panel("Memory of the nodes", "RabbitMQ blocks publishers at the limit.", [
            ("sum by (instance) (rabbitmq_process_resident_memory_bytes)", "{{instance}}"),
            ("sum by (instance) (rabbitmq_resident_memory_limit_bytes)", "limit of {{instance}}")], unit="bytes"),
        panel("Free disk of the nodes", "RabbitMQ blocks publishers at the limit.", [
            ("min by (instance) (rabbitmq_disk_space_available_bytes)", "{{instance}}"),
            ("max by (instance) (rabbitmq_disk_space_available_limit_bytes)", "limit of {{instance}}")], unit="bytes"),
        panel("Connections and channels", "Of all clients.",
              [("sum(rabbitmq_connections)", "connections"), ("sum(rabbitmq_channels)", "channels")]),
    ]),
    ("Processes and files", [
        panel("CPU", "Cores used, by process.",
              [(f"rate(process_cpu_seconds_total[{RATE}]) * on (instance) group_left (service) securepush_build_info",
                "{{service}} {{instance}}")], unit="short"),
        panel("Resident memory", "By process.",
              [("process_resident_memory_bytes * on (instance) group_left (service) securepush_build_info",
                "{{service}} {{instance}}")], unit="bytes"),
        panel("HTTP connections", "Open connections of clients, by process.",
              [("sum by (instance) (securepush_http_connections)", "{{instance}}")]),
        panel("Passwords presented", "By result. wrong and throttled grow when somebody guesses.",
              [(rate("securepush_password_checks_total", "result"), "{{result}}")], unit="ops"),
        panel("Certificates expire in", "The first certificate of each service's chain.",
              [("min by (instance) (securepush_certificate_expiry_seconds)", "{{instance}}")], unit="s"),
        panel("Unusable files", "1: the file or URL of keys or credentials cannot be used.",
              [("max by (file) (securepush_file_unusable)", "{{file}}")]),
    ]),
]

DASHBOARDS = {
    "overview": ("SecurePush: overview", "The funnel from the request to the read, backlog and requests.", OVERVIEW),
    "dispatch": ("SecurePush: dispatch", "Lanes, hub and outcome of the dispatchers.", DISPATCH),
    "stores-and-broker": ("SecurePush: stores and broker", "PostgreSQL, publishing, RabbitMQ and processes.", STORES),
}
