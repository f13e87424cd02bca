// The part of Apple's UIKit that the example app uses, for type-checking on Linux. Nothing here runs. The declarations
// follow https://developer.apple.com/documentation/uikit, with the isolation of Apple's headers.

@_exported public import Foundation

@MainActor open class UIResponder: NSObject {
    override nonisolated public init() { super.init() }
}

public enum UIBackgroundFetchResult: UInt, Sendable {
    case newData, noData, failed
}

@MainActor open class UIApplication: UIResponder {
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    public class var shared: UIApplication { UIApplication() }
    open var applicationIconBadgeNumber: Int {
        get { 0 }
        set {}
    }
    open var isProtectedDataAvailable: Bool { false }
    open func registerForRemoteNotifications() {}
    open func open(
        _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:],
        completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {}
    open func unregisterForRemoteNotifications() {}
}

@MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)
    func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration
}

extension UIApplicationDelegate {
    public static func main() {}
}

@MainActor open class UISceneSession: NSObject {
    public struct Role: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    public var role: Role { Role(rawValue: "") }
}

@MainActor open class UISceneConfiguration: NSObject {
    public convenience init(name: String?, sessionRole: UISceneSession.Role) { self.init() }
    open var delegateClass: AnyClass? {
        get { nil }
        set {}
    }
}

@MainActor open class UIScene: UIResponder {
    @MainActor open class ConnectionOptions: NSObject {}
}

@MainActor open class UIWindowScene: UIScene {}

@MainActor public protocol UISceneDelegate: NSObjectProtocol {
    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
    func sceneDidBecomeActive(_ scene: UIScene)
    func sceneWillResignActive(_ scene: UIScene)
}

@MainActor public protocol UIWindowSceneDelegate: UISceneDelegate {
    var window: UIWindow? { get set }
}
