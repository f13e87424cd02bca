import SecurePushClient
import UIKit

/// The user's messages, newest first. The list has no texts: they are fetched when one is opened, and stored nowhere.
final class MessagesViewController: UITableViewController {
    private var entries: [InboxPage.Entry] = []
    private var fingerprint: String?
    private static let cell = "message"

    override func viewDidLoad() {
        super.viewDidLoad()
        title = NSLocalizedString("app.messages", comment: "")
        tableView.register(UITableViewCell.self, forCellReuseIdentifier: Self.cell)
        let refresh = UIRefreshControl()
        refresh.addAction(UIAction { [weak self] _ in self?.reload() }, for: .valueChanged)
        refreshControl = refresh
    }

    /// Also after a message was read.
    override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)
        reload()
    }

    private func reload() {
        Task {
            if let entries = await Session.shared.messages() {
                self.entries = entries
                tableView.reloadData()
            }
            fingerprint = await Session.shared.fingerprint()
            tableView.reloadData()
            refreshControl?.endRefreshing()
        }
    }

    override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { entries.count }

    /// The key of this device, for the user to compare.
    override func tableView(_ tableView: UITableView, titleForFooterInSection section: Int) -> String? {
        fingerprint.map { "\(NSLocalizedString("app.fingerprint", comment: "")) \($0)" }
    }

    override func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        let cell = tableView.dequeueReusableCell(withIdentifier: Self.cell, for: indexPath)
        let entry = entries[indexPath.row]
        var content = cell.defaultContentConfiguration()
        content.text = entry.createdAt?.formatted(date: .abbreviated, time: .shortened) ?? entry.id.rawValue
        content.secondaryText = NSLocalizedString(entry.isRead ? "app.read" : "app.unread", comment: "")
        cell.contentConfiguration = content
        return cell
    }

    override func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
        let message = MessageViewController(id: entries[indexPath.row].id)
        navigationController?.pushViewController(message, animated: true)
    }
}
