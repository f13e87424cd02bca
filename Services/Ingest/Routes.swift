import Domain
import Hummingbird
import ServiceRuntime

/// The API for senders. Sending has no lines in the audit log, because the notification itself is the record of it.
func ingestRoutes<Context: RequestContext>(
    authentication: SenderAuthentication, acceptor: NotificationAcceptor, notifications: any SenderNotifications,
    devices: any DeviceStore, reports: any DeviceReportStore
) -> Routes<Context> {
    let send = NotificationSendController(authentication: authentication, acceptor: acceptor)
    let batch = BatchController(authentication: authentication, acceptor: acceptor)
    let status = NotificationStatusController(
        authentication: authentication, notifications: notifications, devices: devices, reports: reports,
        platforms: acceptor.platforms, sealer: acceptor.sealer
    ) { entry in
        acceptor.relay.handOver(entries: CollectionOfOne(entry))
    }
    let recipient = RecipientKeysController(authentication: authentication, keys: devices)
    return Routes([
        Route(
            .post, "/api/notifications", .refusals(of: "send"), send.create, direct: send.createDirectly,
            maxDirectBody: RequestBudget.Limit.maxSmallBytes),
        Route(.post, BatchController.path, .refusals(of: "send"), batch.accept),
        Route(.get, "/api/notifications", .refusals(of: "list"), status.list),
        Route(.get, "/api/notifications/:id/status", .refusals(of: "status"), status.status),
        Route(.delete, "/api/notifications/:id", "revoke", status.revoke),
        Route(.post, "/api/notifications/:id/resend", "resend", status.resend),
        Route(.get, "/api/recipients/:name/keys", .refusals(of: "recipient.keys"), recipient.list),
    ])
}
