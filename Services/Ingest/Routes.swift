import Domain
import Hummingbird
import ServiceRuntime

/// The API for senders. Sending has no lines in the audit log, because the notification itself is the record of it.
func ingestRoutes<Context: RequestContext>(
    authentication: SenderAuthentication, acceptor: NotificationAcceptor, notifications: any SenderNotifications,
    keys: any DeviceStore
) -> Routes<Context> {
    let send = NotificationSendController(authentication: authentication, acceptor: acceptor)
    let batch = BatchController(authentication: authentication, acceptor: acceptor)
    let status = NotificationStatusController(
        authentication: authentication, notifications: notifications, platforms: acceptor.platforms
    ) { entry in
        acceptor.relay.handOver(entries: CollectionOfOne(entry))
    }
    let recipient = RecipientKeysController(authentication: authentication, keys: keys)
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

/// The operator's page and its API.
///
/// - Throws: an error of a template.
func adminRoutes<Context: RequestContext>(_ controller: AdminController) throws -> Routes<Context> {
    let page = try AdminPage(controller: controller)
    return Routes([
        Route(.get, "/", .refusals(of: "operator.overview"), page.overview),
        Route(.get, "/dead-letters", .refusals(of: "operator.dead-letters"), page.deadLetters),
        Route(.get, "/notifications/:id", "operator.look", page.notification),
        Route(.get, "/operator.css", nil, page.style),
        Route(.get, "/operator.js", nil, page.script),
        Route(.get, "/admin/api/overview", .refusals(of: "operator.overview"), controller.overview),
        Route(.get, "/admin/api/failures", .refusals(of: "operator.failures"), controller.failures),
        Route(.post, "/admin/api/failures/resend", "operator.resend-failures", controller.resendFailures),
        Route(.get, "/admin/api/dead-letters", .refusals(of: "operator.dead-letters"), controller.deadLetters),
        Route(.post, "/admin/api/dead-letters/replay", "operator.replay", controller.replay),
        Route(.post, "/admin/api/notifications/search", "operator.search", controller.search),
        Route(.get, "/admin/api/notifications/:id", "operator.look", controller.notification),
        Route(.post, "/admin/api/notifications/:id/resend", "operator.resend", controller.resend),
    ])
}
