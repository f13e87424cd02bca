import Foundation
import SecurePushClient
import UIKit

/// The user's session and the device. The app's only screen shows them.
@MainActor final class Session {
    /// The line below the buttons.
    enum Status: Equatable {
        case waitingForDeviceToken, noDeviceToken, loggedOut, registered, sent
        case failed(DiagnosticCode)

        /// The text in the user's language.
        var text: String {
            switch self {
            case .waitingForDeviceToken: NSLocalizedString("app.status.waiting", comment: "")
            case .noDeviceToken: NSLocalizedString("app.status.no-token", comment: "")
            case .loggedOut: NSLocalizedString("app.status.logged-out", comment: "")
            case .registered: NSLocalizedString("app.status.registered", comment: "")
            case .sent: NSLocalizedString("app.status.sent", comment: "")
            case .failed(let code): NSLocalizedString("app.status.failed", comment: "") + " (\(code))"
            }
        }
    }

    static let shared = Session()

    /// Called after every change.
    var onChange: () -> Void = {}
    private(set) var isLoggedIn = false { didSet { onChange() } }
    var status = Status.waitingForDeviceToken { didSet { onChange() } }

    /// Known as soon as APNs has answered. A new token is registered at once.
    var device: PushDevice? {
        didSet {
            if !isLoggedIn { status = .loggedOut }
            if device != oldValue { Task { await register() } }
        }
    }

    private let push = SecurePush.shared
    private let ingestURL = Deployment().ingestURL

    /// Registers again if that is due, and shows missed notifications.
    func becomeActive() async {
        isLoggedIn = await push.credentials.userName() != nil
        await register()
        let report = await push.client.catchUp()
        // The session has ended, so the user has to log in again. The user's name is kept: signed pushes need it.
        if report.code == .loggedOut || report.code == .status(401) {
            isLoggedIn = false
            status = .loggedOut
        }
    }

    /// Logs in, registers, and shows the notifications that waited for the log-in.
    func logIn(userName: String, password: String) async {
        await attempt {
            try await self.push.credentials.logIn(userName: userName, password: password)
            self.isLoggedIn = true
        }
        guard isLoggedIn else { return }
        await register()
        _ = await push.client.resumeAfterLogIn()
    }

    /// The server forgets the device first, so that no push for this user comes to the next one. Without a connection
    /// the credentials are deleted all the same: pushes then only prompt, until the next user registers the device.
    func logOut() async {
        status = .loggedOut
        await attempt { try await self.push.client.unregister() }
        await attempt {
            try await self.push.credentials.logOut()
            self.isLoggedIn = false
        }
    }

    /// The tutorial's "Send push": the user sends "Secure confirmation." to all own devices.
    func sendPush() async {
        guard let ingestURL else { return }
        await attempt {
            let sender = ConfirmationSender(ingestURL: ingestURL, push: self.push)
            try await sender.send()
            self.status = .sent
        }
    }

    private func register() async {
        guard isLoggedIn, let device else { return }
        await attempt {
            try await self.push.client.register(device)
            self.status = .registered
        }
    }

    private func attempt(_ body: @MainActor () async throws -> Void) async {
        do {
            try await body()
        } catch let error as SecurePushFailure {
            status = .failed(error.code)
        } catch {
            status = .failed(.credentials)
        }
    }
}

extension SecurePush {
    /// The app's client. The screen and silent pushes use it.
    static let shared = SecurePush(deployment: Deployment()) { count in
        await MainActor.run { UIApplication.shared.applicationIconBadgeNumber = count }
    }
}
