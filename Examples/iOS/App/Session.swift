import Foundation
import SecurePushClient
import UIKit

/// The user's session and the device. The app's only screen shows them.
@MainActor final class Session {
    /// The line below the buttons.
    enum Status: Equatable {
        case waitingForDeviceToken, noDeviceToken, loggedOut, registered, sent, wrongPassword
        case noKey(DiagnosticCode), notSent(DiagnosticCode), failed(DiagnosticCode)

        /// The text in the user's language.
        var text: String {
            switch self {
            case .waitingForDeviceToken: NSLocalizedString("app.status.waiting", comment: "")
            case .noDeviceToken: NSLocalizedString("app.status.no-token", comment: "")
            case .loggedOut: NSLocalizedString("app.status.logged-out", comment: "")
            case .registered: NSLocalizedString("app.status.registered", comment: "")
            case .sent: NSLocalizedString("app.status.sent", comment: "")
            case .wrongPassword: NSLocalizedString("app.failure.password", comment: "")
            case .noKey(let code): Self.text("app.failure.no-key", code)
            case .notSent(let code): Self.text("app.failure.not-sent", code)
            case .failed(let code): Self.text(Self.key(of: code), code)
            }
        }

        private static func text(_ key: String, _ code: DiagnosticCode) -> String {
            String(format: NSLocalizedString(key, comment: ""), "\(code)")
        }

        private static func key(of code: DiagnosticCode) -> String {
            switch code {
            case .noKey: "app.failure.not-for-this-device"
            case .unopenable: "app.failure.not-decrypted"
            case .replayed, .unknownSender, .notEncrypted: "app.failure.not-trusted"
            case .expired, .status(403), .status(404), .status(410): "app.failure.gone"
            default: "app.failure"
            }
        }
    }

    static let shared = Session()

    /// Called after every change.
    var onChange: () -> Void = {}
    /// Shows a message; the window sets it.
    var open: (PushID) -> Void = { _ in }
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
        await attempt(failing: { $0.code == .status(401) ? .wrongPassword : .failed($0.code) }) {
            try await self.push.credentials.logIn(userName: userName, password: password)
            self.isLoggedIn = true
        }
        guard isLoggedIn else { return }
        await register()
        _ = await push.client.resumeAfterLogIn()
    }

    /// The device forgets the user at once. Without a connection the server is told later.
    func logOut() async {
        status = .loggedOut
        await attempt {
            self.isLoggedIn = false
            try await self.push.client.logOut()
        }
        // The store could not be written: the user is still there.
        if await push.credentials.userName() != nil { isLoggedIn = true }
    }

    /// All messages, newest first; `nil` if they cannot be listed now.
    func messages() async -> [InboxPage.Entry]? {
        var entries: [InboxPage.Entry]?
        await attempt {
            var found: [InboxPage.Entry] = []
            // 200 on a page.
            for _ in 0..<50 {
                let page = try await self.push.client.inbox(after: found.last?.id)
                found += page.entries
                guard page.hasNext, !page.entries.isEmpty else { break }
            }
            entries = found.reversed()
        }
        return entries
    }

    /// Why there is no message, in the user's language.
    struct Failure: Error {
        let text: String
    }

    /// A message, or the reason why there is none.
    func secret(of id: PushID) async -> Result<SecretNotification, Failure> {
        do {
            return .success(try await push.client.read(id))
        } catch let error as SecurePushFailure {
            return .failure(Failure(text: Status.failed(error.code).text))
        } catch {
            return .failure(Failure(text: Status.failed(.credentials).text))
        }
    }

    /// Answers a message.
    ///
    /// - Returns: why the answer does not count; `nil` if it does.
    func answer(_ id: PushID, _ action: String, text: String? = nil, challenge: String? = nil) async -> AnswerFailure? {
        do throws(AnswerFailure) {
            try await push.client.answer(id, action: action, text: text, challenge: challenge)
            return nil
        } catch {
            return error
        }
    }

    /// The fingerprint of this device's key, which the user compares with the one that a sender sees.
    func fingerprint() async -> String? { try? await push.client.encryptionKeyFingerprint }

    /// The tutorial's "Send push": the user sends "Secure confirmation." to all own devices.
    func sendPush() async {
        guard let ingestURL else { return }
        await attempt(failing: { .notSent($0.code) }) {
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

    private func attempt(
        failing: (SecurePushFailure) -> Status = { $0.installationID == nil ? .failed($0.code) : .noKey($0.code) },
        _ body: @MainActor () async throws -> Void
    ) async {
        do {
            try await body()
        } catch let error as SecurePushFailure {
            status = failing(error)
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
