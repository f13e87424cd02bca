// The part of Apple's UserNotifications that the example apps and the client library use, for type-checking on Linux.
// Nothing here runs. The declarations follow https://developer.apple.com/documentation/usernotifications. They promise
// no more sendability than Apple's headers, so that what compiles here also compiles there.

public import Foundation

open class UNNotificationSound: NSObject {
    open class var `default`: UNNotificationSound { UNNotificationSound() }
}

open class UNNotificationContent: NSObject {
    open var badge: NSNumber? { nil }
    open var body: String { "" }
    open var categoryIdentifier: String { "" }
    open var interruptionLevel: UNNotificationInterruptionLevel { .active }
    open var sound: UNNotificationSound? { nil }
    open var subtitle: String { "" }
    open var threadIdentifier: String { "" }
    open var title: String { "" }
    open var userInfo: [AnyHashable: Any] { [:] }
    override open func mutableCopy() -> Any { UNMutableNotificationContent() }
}

open class UNMutableNotificationContent: UNNotificationContent {
    override open var badge: NSNumber? {
        get { nil }
        set {}
    }
    override open var body: String {
        get { "" }
        set {}
    }
    override open var categoryIdentifier: String {
        get { "" }
        set {}
    }
    override open var interruptionLevel: UNNotificationInterruptionLevel {
        get { .active }
        set {}
    }
    override open var sound: UNNotificationSound? {
        get { nil }
        set {}
    }
    override open var subtitle: String {
        get { "" }
        set {}
    }
    override open var threadIdentifier: String {
        get { "" }
        set {}
    }
    override open var title: String {
        get { "" }
        set {}
    }
    override open var userInfo: [AnyHashable: Any] {
        get { [:] }
        set {}
    }
}

public enum UNNotificationInterruptionLevel: UInt, Sendable {
    case passive, active, timeSensitive, critical
}

public struct UNNotificationActionOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let authenticationRequired = UNNotificationActionOptions(rawValue: 1 << 0)
}

open class UNNotificationAction: NSObject {
    public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.init()
    }
}

open class UNTextInputNotificationAction: UNNotificationAction {
    public convenience init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], textInputButtonTitle: String,
        textInputPlaceholder: String
    ) {
        self.init()
    }
}

public enum UNShowPreviewsSetting: Int, Sendable {
    case always, whenAuthenticated, never
}

open class UNNotificationSettings: NSObject {
    open var showPreviewsSetting: UNShowPreviewsSetting { .always }
}

public let UNNotificationDefaultActionIdentifier = "default"
public let UNNotificationDismissActionIdentifier = "dismiss"

open class UNNotificationCategory: NSObject {
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String, options: UNNotificationCategoryOptions = []
    ) {
        self.init()
    }
    open var identifier: String { "" }
    open var hiddenPreviewsBodyPlaceholder: String { "" }
}

public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}

open class UNNotificationTrigger: NSObject {
    open var repeats: Bool { false }
}

open class UNPushNotificationTrigger: UNNotificationTrigger {}

open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
    public convenience init(timeInterval: TimeInterval, repeats: Bool) { self.init() }
}

open class UNNotificationRequest: NSObject {
    public convenience init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.init()
    }
    open var identifier: String { "" }
    open var content: UNNotificationContent { UNNotificationContent() }
    open var trigger: UNNotificationTrigger? { nil }
}

open class UNNotification: NSObject {
    open var date: Date { Date() }
    open var request: UNNotificationRequest { UNNotificationRequest() }
}

open class UNNotificationResponse: NSObject {
    open var notification: UNNotification { UNNotification() }
    open var actionIdentifier: String { "" }
}

open class UNTextInputNotificationResponse: UNNotificationResponse {
    open var userText: String { "" }
}

/// The system makes an instance in the extension's process and may call it for two notifications at once.
open class UNNotificationServiceExtension: NSObject {
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
    open func serviceExtensionTimeWillExpire() {}
}

public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let badge = UNAuthorizationOptions(rawValue: 1 << 0)
    public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
    public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
}

public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
    public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
    public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
    public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}

public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void)
}

open class UNUserNotificationCenter: NSObject {
    open class func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }
    open weak var delegate: (any UNUserNotificationCenterDelegate)?
    open func requestAuthorization(
        options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {}
    open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool { false }
    open func add(
        _ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)?
    ) {}
    open func add(_ request: UNNotificationRequest) async throws {}
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {}
    open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {}
    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {}
    open func notificationCategories() async -> Set<UNNotificationCategory> { [] }
    open func notificationSettings() async -> UNNotificationSettings { UNNotificationSettings() }
    open func removeAllDeliveredNotifications() {}
    open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {}
    open func deliveredNotifications() async -> [UNNotification] { [] }
    open func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {}
    open func setBadgeCount(_ newBadgeCount: Int) async throws {}
}

extension NSString {
    public class func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String { key }
}

// Foundation's own, on Apple's systems.
extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }
}
