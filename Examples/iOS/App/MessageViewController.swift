import SecurePushClient
import UIKit

/// One message, whole: title, text, link, and buttons for its actions. It is in memory as long as the screen is open.
final class MessageViewController: UIViewController {
    private let id: PushID
    private let heading = UILabel()
    private let text = UITextView()
    private let buttons = UIStackView()

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
        heading.font = .preferredFont(forTextStyle: .headline)
        heading.numberOfLines = 0
        text.isEditable = false
        text.font = .preferredFont(forTextStyle: .body)
        text.accessibilityIdentifier = "message"
        buttons.axis = .vertical
        buttons.spacing = 8
        let stack = UIStackView(arrangedSubviews: [heading, text, buttons])
        stack.axis = .vertical
        stack.spacing = 8
        stack.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(stack)
        let area = view.safeAreaLayoutGuide
        NSLayoutConstraint.activate([
            stack.topAnchor.constraint(equalTo: area.topAnchor, constant: 8),
            stack.bottomAnchor.constraint(equalTo: area.bottomAnchor, constant: -8),
            stack.leadingAnchor.constraint(equalTo: area.leadingAnchor, constant: 16),
            stack.trailingAnchor.constraint(equalTo: area.trailingAnchor, constant: -16),
        ])
        Task {
            switch await Session.shared.secret(of: id) {
            case .success(let secret): show(secret)
            case .failure(let failure): text.text = failure.text
            }
        }
    }

    private func show(_ secret: SecretNotification) {
        // A payload that is no message is the app's own; this one shows it as it is.
        text.text = secret.message?.body ?? secret.json
        heading.text = secret.message?.title
        heading.isHidden = heading.text?.isEmpty ?? true
        if let link = secret.message?.link.flatMap({ URL(string: $0) }), link.scheme == "https", let host = link.host {
            // The text is the sender's. The button shows where it leads.
            addButton(host) { UIApplication.shared.open(link) }
        }
        for action in secret.message?.actions ?? [] {
            addButton(action.title) { [weak self] in self?.answer(action) }
        }
    }

    private func addButton(_ title: String, _ work: @escaping @MainActor () -> Void) {
        var configuration = UIButton.Configuration.tinted()
        configuration.title = title
        buttons.addArrangedSubview(UIButton(configuration: configuration, primaryAction: UIAction { _ in work() }))
    }

    private func answer(_ action: PushMessage.Action) {
        guard action.takesText else { return send(action, text: nil, challenge: nil) }
        ask(action.title, "") { [weak self] in self?.send(action, text: $0, challenge: nil) }
    }

    private func send(_ action: PushMessage.Action, text: String?, challenge: String?) {
        Task {
            switch await Session.shared.answer(id, action.id, text: text, challenge: challenge) {
            case nil:
                buttons.isHidden = true
                note(NSLocalizedString("app.answer.sent", comment: ""))
            case .wrong:
                // Perhaps the sender shows a number elsewhere, such as on the page where the user logs in.
                ask(action.title, NSLocalizedString("app.answer.challenge", comment: "")) { [weak self] in
                    self?.send(action, text: text, challenge: $0)
                }
            case .over: note(NSLocalizedString("app.answer.over", comment: ""))
            case .answeredDifferently: note(NSLocalizedString("app.answer.other", comment: ""))
            case .failed(let code): note(Session.Status.failed(code).text)
            }
        }
    }

    private func ask(_ title: String, _ question: String, _ work: @escaping @MainActor (String) -> Void) {
        let alert = UIAlertController(title: title, message: question, preferredStyle: .alert)
        alert.addTextField()
        alert.addAction(UIAlertAction(title: NSLocalizedString("app.cancel", comment: ""), style: .cancel))
        alert.addAction(
            UIAlertAction(title: NSLocalizedString("app.send", comment: ""), style: .default) { [weak alert] _ in
                work(alert?.textFields?.first?.text ?? "")
            })
        present(alert, animated: true)
    }

    private func note(_ text: String) {
        let alert = UIAlertController(title: nil, message: text, preferredStyle: .alert)
        alert.addAction(UIAlertAction(title: NSLocalizedString("app.ok", comment: ""), style: .default))
        present(alert, animated: true)
    }
}
