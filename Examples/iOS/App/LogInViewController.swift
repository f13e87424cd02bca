import UIKit

/// The tutorial's screen: user name, password, "Log in" and "Send push"; and the way to the messages.
final class LogInViewController: UIViewController {
    private let userName = LogInViewController.textField("app.user-name", contentType: .username)
    private let password = LogInViewController.textField("app.password", contentType: .password)
    private let logInButton = UIButton(type: .system)
    private let sendButton = UIButton(type: .system)
    private let messagesButton = UIButton(type: .system)
    private let logOutButton = UIButton(type: .system)
    private let status = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        title = NSLocalizedString("app.title", comment: "")
        view.backgroundColor = .systemBackground
        password.isSecureTextEntry = true
        status.numberOfLines = 0
        status.textColor = .secondaryLabel
        status.font = .preferredFont(forTextStyle: .footnote)
        status.accessibilityIdentifier = "status"
        prepare(logInButton, "app.log-in") { [weak self] in
            guard let self else { return }
            view.endEditing(true)
            await Session.shared.logIn(userName: userName.text ?? "", password: password.text ?? "")
            password.text = nil
        }
        prepare(sendButton, "app.send-push") { await Session.shared.sendPush() }
        prepare(messagesButton, "app.messages") { [weak self] in
            self?.navigationController?.pushViewController(MessagesViewController(), animated: true)
        }
        prepare(logOutButton, "app.log-out") { await Session.shared.logOut() }
        layOut()
        Session.shared.onChange = { [weak self] in self?.update() }
        update()
    }

    /// As in the tutorial, "Log in" works once the device token is known.
    private func update() {
        let session = Session.shared
        logInButton.isEnabled = session.device != nil && !session.isLoggedIn
        sendButton.isEnabled = session.isLoggedIn
        messagesButton.isEnabled = session.isLoggedIn
        logOutButton.isEnabled = session.isLoggedIn
        status.text = session.status.text
    }

    private func layOut() {
        let stack = UIStackView(arrangedSubviews: [
            userName, password, logInButton, sendButton, messagesButton, logOutButton, status,
        ])
        stack.axis = .vertical
        stack.spacing = 12
        stack.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(stack)
        let area = view.safeAreaLayoutGuide
        NSLayoutConstraint.activate([
            stack.topAnchor.constraint(equalTo: area.topAnchor, constant: 24),
            stack.leadingAnchor.constraint(equalTo: area.leadingAnchor, constant: 24),
            stack.trailingAnchor.constraint(equalTo: area.trailingAnchor, constant: -24),
        ])
    }

    private func prepare(_ button: UIButton, _ titleKey: String, _ action: @escaping @MainActor () async -> Void) {
        button.setTitle(NSLocalizedString(titleKey, comment: ""), for: .normal)
        button.accessibilityIdentifier = titleKey
        button.addAction(UIAction { _ in Task { await action() } }, for: .touchUpInside)
    }

    private static func textField(_ placeholderKey: String, contentType: UITextContentType) -> UITextField {
        let field = UITextField()
        field.placeholder = NSLocalizedString(placeholderKey, comment: "")
        field.accessibilityIdentifier = placeholderKey
        field.borderStyle = .roundedRect
        field.autocapitalizationType = .none
        field.autocorrectionType = .no
        field.textContentType = contentType
        return field
    }
}
