import UIKit

/// Covers the window while the app is not in front, so that the picture in the app switcher shows no message.
@MainActor final class PrivacyCover {
    private let view = UIView()

    /// Covers the window.
    func show(over window: UIWindow) {
        view.backgroundColor = .systemBackground
        view.frame = window.bounds
        view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
        window.addSubview(view)
    }

    /// Shows the window again.
    func hide() { view.removeFromSuperview() }
}
