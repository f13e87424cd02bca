import Foundation
import SecurePushCore

/// The file for the page of a load test. It is examined before the test and written at its end.
struct ReportFile: Sendable {
    let path: String

    /// - Throws: ``CommandFailure`` with code `usage` if a file cannot be written there.
    init(_ path: String) throws {
        self.path = path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw ReportFile.failure(path, "it is a folder")
        }
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw ReportFile.failure(path, "its folder does not exist")
        }
        guard access(folder, W_OK) == 0 else {
            throw ReportFile.failure(path, String(cString: strerror(errno)))
        }
    }

    /// Replaces the file as a whole: nobody sees half a page.
    ///
    /// - Throws: ``CommandFailure`` if the disk is full, for example.
    func write(_ text: String) throws {
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.failed, "Cannot write \(path.printable): \(ErrorText.reason(error))")
        }
    }

    private static func failure(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure(.usage, "--report: cannot write \(path.printable): \(reason).")
    }
}
