import SecurePushClient
import UIKit
import UserNotifications

/// Registers for pushes, and hands silent ones to the client.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    /// The notification center holds its delegate weakly.
    private let foreground = ForegroundNotifications()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let center = UNUserNotificationCenter.current()
        center.delegate = foreground
        // Silent pushes come without the permission; alerts, and the service extension with them, do not.
        // Hidden previews show the app's own text.
        Task { await UserNotificationPresenter.registerCategory() }
        center.requestAuthorization(options: [.alert, .badge, .sound]) { _, _ in }
        application.registerForRemoteNotifications()
        return true
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {
        Session.shared.device = PushDevice(deviceToken: deviceToken)
    }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        Session.shared.status = .noDeviceToken
    }

    /// A silent push: the app runs in the background for up to 30 seconds. The client needs at most 25.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        let push = IncomingPush(userInfo: userInfo)
        Task {
            let report = await SecurePush.shared.client.handle(push: push)
            switch report.result {
            case .newData: completionHandler(.newData)
            case .noData: completionHandler(.noData)
            case .failed: completionHandler(.failed)
            }
        }
    }

    func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        let configuration = UISceneConfiguration(name: nil, sessionRole: connectingSceneSession.role)
        configuration.delegateClass = SceneDelegate.self
        return configuration
    }
}

/// Shows notifications while the app is in front, too. A tap opens the message.
final class ForegroundNotifications: NSObject, UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([.banner, .list, .sound, .badge])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let id = IncomingPush(userInfo: response.notification.request.content.userInfo).id
        let action = response.actionIdentifier
        let text = (response as? UNTextInputNotificationResponse)?.userText
        completionHandler()
        guard let id, action != UNNotificationDismissActionIdentifier else { return }
        Task { @MainActor in
            // The button of an action. If the answer does not count, the message's screen says why.
            if action != UNNotificationDefaultActionIdentifier,
                await Session.shared.answer(id, action, text: text) == nil
            {
                return
            }
            Session.shared.open(id)
        }
    }
}
