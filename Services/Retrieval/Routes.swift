import Authentication
import Domain
import Hummingbird
import ServiceRuntime

/// The API for devices.
func retrievalRoutes<Context: RequestContext>(
    notifications: NotificationReadController, shown: ShownController, answers: AnswerController,
    tokens: TokenController, pushKeys: PushKeysController, changes: DeviceChanges, keys: any DeviceStore,
    noticesKeys: Bool = false, cors: CORSPolicy?
) -> Routes<Context> {
    let users = notifications.users
    let installations = InstallationController(users: users, changes: changes)
    let registrations = RegistrationController(users: users, changes: changes)
    let devices = DeviceListController(users: users, changes: changes)
    let deviceKeys = EncryptionKeyController(users: users, keys: keys, notifies: noticesKeys)
    return Routes(
        [
            Route(
                .get, "/api/notifications/:id", "read", notifications.read, readChanges: { _ in true },
                direct: notifications.readDirectly),
            Route(
                .get, "/api/notifications", .refusals(of: "inbox"), notifications.list,
                readChanges: NotificationReadController.listMarksAsRead),
            Route(.post, "/api/notifications/read", "mark-read", notifications.markRead),
            Route(.post, "/api/notifications/:id/shown", .refusals(of: "shown"), shown.report),
            Route(.post, "/api/notifications/:id/answer", "answer", answers.answer),
            Route(.put, "/api/installations/:id", "device.register", installations.put),
            Route(.get, "/api/installations/:id", .refusals(of: "device.get"), installations.get),
            Route(.delete, "/api/installations/:id", "device.remove", installations.delete),
            Route(.get, "/api/installations", .refusals(of: "device.list"), devices.list),
            Route(.post, "/api/register", "device.register", registrations.create),
            Route(.put, "/api/register/:id", "device.register", registrations.update),
            Route(.delete, "/api/register/:id", "device.remove", registrations.delete),
            Route(.delete, "/api/devices", "device.remove-all", devices.removeAll),
            Route(.put, "/api/devices/:id/key", "device.key", deviceKeys.put),
            Route(.post, "/api/token", "token.issue", tokens.issue),
            Route(.delete, "/api/token", "token.revoke", tokens.end),
            Route(.get, "/api/push-keys", nil, pushKeys.show),
            Route(.get, "/api/push-config", nil, pushKeys.showConfiguration),
        ], cors: cors)
}
