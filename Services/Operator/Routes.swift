import Hummingbird
import ServiceRuntime

/// The page and its API. A look at one notification and everything that changes something have lines in the audit log.
func operatorRoutes<Context: RequestContext>(_ controller: OperatorController) -> Routes<Context> {
    Routes(
        PageFiles.routes() + [
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
