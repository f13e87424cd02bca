import ChaosChecker
import Foundation
import StackKit

/// Looks for the endpoints and keys of a run with hubs of one's own in the logs, where none may be.
struct HandleSearch: Sendable {
    private let subscriptions: [FakePushService.Device]
    private let secrets: StackSecrets

    init(_ subscriptions: [FakePushService.Device], _ secrets: StackSecrets) {
        (self.subscriptions, self.secrets) = (subscriptions, secrets)
    }

    /// The ID of each endpoint, and each key as it is registered and in the other alphabet of Base64.
    private var needles: Set<String> {
        func forms(_ text: String) -> [String] {
            [text, text.replacing("-", with: "+").replacing("_", with: "/")]
        }
        let ofDevices = subscriptions.flatMap { [$0.id] + forms($0.p256dh ?? "") + forms($0.auth ?? "") }
        let ofHub = secrets.webPushKeyPEM.split(separator: "\n").filter { !$0.hasPrefix("-") }.map(String.init)
        return Set(ofDevices + ofHub + [secrets.hubKey]).subtracting([""])
    }

    /// Searches the logs of a run. `grep` looks for all at once, many times faster than this program.
    ///
    /// - Throws: ``Stack/NotStarted``, if there was no search.
    func search(_ folder: RunFolder) async throws -> HistoryEvent.Leak {
        try secrets.write("needles", needles.sorted().joined(separator: "\n"), folder.secrets)
        let file = folder.secrets.appending(path: "needles")
        defer { try? FileManager.default.removeItem(at: file) }
        let grep = try await result(
            of: "grep", ["-r", "-a", "-F", "-h", "-o", "-f", file.path, folder.logs.path])
        // Without a finding it ends with 1.
        guard let code = grep.exitCode, code <= 1 else {
            throw Stack.NotStarted(description: "grep failed: \(grep.output)")
        }
        return .init(
            place: "service logs", found: grep.output.split(separator: "\n").count,
            searchedBytes: Self.size(of: folder.logs), subject: "endpoints or keys")
    }

    private static func size(of folder: URL) -> Int {
        let walker = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.fileSizeKey])
        var bytes = 0
        while let url = walker?.nextObject() as? URL {
            bytes += (try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
        }
        return bytes
    }
}
