import SecurePushClient
import UIKit

/// One message, whole. Its text is in memory as long as the screen is open.
final class MessageViewController: UIViewController {
    private let id: PushID
    private let text = UITextView()

    init(id: PushID) {
        self.id = id
        super.init(nibName: nil, bundle: nil)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        title = NSLocalizedString("app.message", comment: "")
        view.backgroundColor = .systemBackground
        text.isEditable = false
        text.font = .preferredFont(forTextStyle: .body)
        text.accessibilityIdentifier = "message"
        text.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(text)
        let area = view.safeAreaLayoutGuide
        NSLayoutConstraint.activate([
            text.topAnchor.constraint(equalTo: area.topAnchor, constant: 8),
            text.bottomAnchor.constraint(equalTo: area.bottomAnchor, constant: -8),
            text.leadingAnchor.constraint(equalTo: area.leadingAnchor, constant: 16),
            text.trailingAnchor.constraint(equalTo: area.trailingAnchor, constant: -16),
        ])
        Task { text.text = await Session.shared.text(of: id) }
    }
}
