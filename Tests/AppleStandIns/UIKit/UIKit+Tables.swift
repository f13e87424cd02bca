// The list and the text view that the example app uses.

public import Foundation

extension IndexPath {
    public var row: Int { self[1] }
}

public struct UIListContentConfiguration {
    public var text: String?
    public var secondaryText: String?
}

@MainActor open class UITableViewCell: UIView {
    // In UIKit a value of the protocol UIContentConfiguration.
    open var contentConfiguration: UIListContentConfiguration?
    open func defaultContentConfiguration() -> UIListContentConfiguration { UIListContentConfiguration() }
}

@MainActor open class UITableView: UIView {
    open func register(_ cellClass: AnyClass?, forCellReuseIdentifier identifier: String) {}
    open func dequeueReusableCell(withIdentifier identifier: String, for indexPath: IndexPath) -> UITableViewCell {
        UITableViewCell()
    }
    open func reloadData() {}
}

@MainActor open class UIRefreshControl: UIControl {
    open func endRefreshing() {}
}

@MainActor open class UITableViewController: UIViewController {
    open var tableView = UITableView()
    open var refreshControl: UIRefreshControl?
    open func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { 0 }
    open func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        UITableViewCell()
    }
    open func tableView(_ tableView: UITableView, titleForFooterInSection section: Int) -> String? { nil }
    open func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {}
}

@MainActor open class UITextView: UIView {
    open var text: String?
    open var font: UIFont?
    open var isEditable = true
}
