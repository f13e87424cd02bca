import UIKit

/// The window. Each time the app comes to the front, it fetches missed notifications; while it is not, it is covered.
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?
    private let cover = PrivacyCover()

    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let scene = scene as? UIWindowScene else { return }
        let window = UIWindow(windowScene: scene)
        window.rootViewController = UINavigationController(rootViewController: LogInViewController())
        window.makeKeyAndVisible()
        self.window = window
        Session.shared.open = { [weak window] id in
            guard let navigation = window?.rootViewController as? UINavigationController else { return }
            navigation.popToRootViewController(animated: false)
            navigation.pushViewController(MessageViewController(id: id), animated: true)
        }
    }

    func sceneWillResignActive(_ scene: UIScene) {
        if let window { cover.show(over: window) }
    }

    func sceneDidBecomeActive(_ scene: UIScene) {
        cover.hide()
        Task { await Session.shared.becomeActive() }
    }
}
