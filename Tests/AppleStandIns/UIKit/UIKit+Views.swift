// The views that the example app uses.

public import Foundation

@MainActor open class UIColor: NSObject {
    open class var systemBackground: UIColor { UIColor() }
    open class var secondaryLabel: UIColor { UIColor() }
}

@MainActor open class UIFont: NSObject {
    public struct TextStyle: Sendable {
        public static let body = TextStyle()
        public static let footnote = TextStyle()
        public static let headline = TextStyle()
    }

    open class func preferredFont(forTextStyle style: TextStyle) -> UIFont { UIFont() }
}

@MainActor open class UIView: UIResponder {
    public struct AutoresizingMask: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let flexibleWidth = AutoresizingMask(rawValue: 1 << 1)
        public static let flexibleHeight = AutoresizingMask(rawValue: 1 << 4)
    }

    open var backgroundColor: UIColor?
    open var isHidden = false
    open var frame: CGRect = .zero
    open var bounds: CGRect = .zero
    open var autoresizingMask: AutoresizingMask = []
    open var translatesAutoresizingMaskIntoConstraints = true
    open var accessibilityIdentifier: String?
    open var safeAreaLayoutGuide: UILayoutGuide { UILayoutGuide() }
    open var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open func addSubview(_ view: UIView) {}
    open func removeFromSuperview() {}
    @discardableResult open func endEditing(_ force: Bool) -> Bool { true }
}

@MainActor open class UILayoutGuide: NSObject {
    open var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    open var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    open var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
}

@MainActor open class NSLayoutAnchor<AnchorType: AnyObject>: NSObject {
    open func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant: CGFloat = 0) -> NSLayoutConstraint {
        NSLayoutConstraint()
    }
}

@MainActor public final class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}
@MainActor public final class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}

@MainActor open class NSLayoutConstraint: NSObject {
    open class func activate(_ constraints: [NSLayoutConstraint]) {}
    public enum Axis: Int, Sendable { case horizontal, vertical }
}

@MainActor open class UIStackView: UIView {
    public convenience init(arrangedSubviews views: [UIView]) { self.init() }
    open var axis = NSLayoutConstraint.Axis.horizontal
    open var spacing: CGFloat = 0
    open func addArrangedSubview(_ view: UIView) {}
}

@MainActor open class UILabel: UIView {
    open var text: String?
    open var font: UIFont?
    open var textColor: UIColor?
    open var numberOfLines = 1
}

@MainActor open class UIControl: UIView {
    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let touchUpInside = Event(rawValue: 1 << 6)
        public static let valueChanged = Event(rawValue: 1 << 12)
        public static let editingChanged = Event(rawValue: 1 << 17)
    }

    open var isEnabled = true
    open func addAction(_ action: UIAction, for controlEvents: Event) {}
}

@MainActor open class UIAction: NSObject {
    public typealias Handler = (UIAction) -> Void
    public convenience init(title: String = "", handler: @escaping Handler) { self.init() }
}

@MainActor open class UIButton: UIControl {
    public enum ButtonType: Int, Sendable { case custom, system }
    public struct State: Sendable {
        public static let normal = State()
    }

    @MainActor public struct Configuration {
        public static func tinted() -> Configuration { Configuration() }
        public var title: String?
    }

    public convenience init(type buttonType: ButtonType) { self.init() }
    public convenience init(configuration: Configuration, primaryAction: UIAction? = nil) { self.init() }
    open func setTitle(_ title: String?, for state: State) {}
}

public struct UITextContentType: Sendable {
    public static let username = UITextContentType()
    public static let password = UITextContentType()
}

@MainActor open class UITextField: UIControl {
    public enum BorderStyle: Int, Sendable { case none, line, bezel, roundedRect }
    public enum AutocapitalizationType: Int, Sendable { case none, words, sentences }
    public enum AutocorrectionType: Int, Sendable { case `default`, no, yes }

    open var text: String?
    open var placeholder: String?
    open var borderStyle = BorderStyle.none
    open var isSecureTextEntry = false
    open var textContentType: UITextContentType?
    open var autocapitalizationType = AutocapitalizationType.sentences
    open var autocorrectionType = AutocorrectionType.default
}

@MainActor open class UIViewController: UIResponder {
    override nonisolated public init() { super.init() }
    nonisolated public init(nibName: String?, bundle: Bundle?) { super.init() }
    open var navigationController: UINavigationController? { nil }
    open var view: UIView = UIView()
    open var title: String?
    open func viewDidLoad() {}
    open func viewWillAppear(_ animated: Bool) {}
    open func present(_ viewController: UIViewController, animated: Bool, completion: (() -> Void)? = nil) {}
}

@MainActor open class UIAlertAction: NSObject {
    public enum Style: Int, Sendable { case `default`, cancel, destructive }
    public convenience init(
        title: String?, style: Style, handler: (@MainActor @Sendable (UIAlertAction) -> Void)? = nil
    ) {
        self.init()
    }
}

@MainActor open class UIAlertController: UIViewController {
    public enum Style: Int, Sendable { case actionSheet, alert }
    public convenience init(title: String?, message: String?, preferredStyle: Style) {
        self.init(nibName: nil, bundle: nil)
    }
    open var textFields: [UITextField]? { nil }
    open func addAction(_ action: UIAlertAction) {}
    open func addTextField(configurationHandler: (@MainActor @Sendable (UITextField) -> Void)? = nil) {}
}

@MainActor open class UINavigationController: UIViewController {
    public convenience init(rootViewController: UIViewController) {
        self.init(nibName: nil, bundle: nil)
    }
    open func pushViewController(_ viewController: UIViewController, animated: Bool) {}
    @discardableResult open func popToRootViewController(animated: Bool) -> [UIViewController]? { nil }
}

@MainActor open class UIWindow: UIView {
    public convenience init(windowScene: UIWindowScene) { self.init() }
    open var rootViewController: UIViewController?
    open func makeKeyAndVisible() {}
}
