import ChaosChecker
import Foundation
import StackKit

/// Looks for the handles and keys of a run with hubs of one's own in the logs, where none may be.
struct HandleSearch: Sendable {
    private let devices: [FakePushService.Device]
    private let secrets: StackSecrets
    private let credentials: HubCredentials

    init(_ devices: [FakePushService.Device], _ secrets: StackSecrets, _ credentials: HubCredentials) {
        (self.devices, self.secrets, self.credentials) = (devices, secrets, credentials)
    }

    /// A part of each handle that no other text has, in capitals too, and each key as it is registered and in the other
    /// alphabet of Base64.
    private var needles: Set<String> {
        let keys = devices.flatMap { [$0.p256dh, $0.auth].compactMap(\.self) }
        let ofKeys = keys.flatMap { [$0, $0.replacing("-", with: "+").replacing("_", with: "/")] }
        let ofDevices = devices.flatMap { [$0.id, $0.id.uppercased()] }
        return Set(ofDevices + ofKeys + credentials.secrets + [secrets.hubKey])
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
            searchedBytes: Self.size(of: folder.logs), subject: "handles or keys")
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
