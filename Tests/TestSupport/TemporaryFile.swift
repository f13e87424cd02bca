package import Foundation

/// A path for a file that is removed afterwards; nothing is there at first.
package func withTemporaryPath<Value>(_ body: (String) throws -> Value) throws -> Value {
    let path = FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
}

/// Calls a body with the path of a new folder, which is removed afterwards.
package func withTemporaryFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = temporaryPath()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { removeFile(folder) }
    return try await body(folder)
}

/// The same, with the folder's URL.
package func withTemporaryFolderURL<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    try await withTemporaryFolder { try await body(URL(filePath: $0)) }
}

package func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
}

/// A path for a file of an asynchronous test, which removes it by ``removeFile(_:)``.
package func temporaryPath() -> String {
    FileManager.default.temporaryDirectory.appending(path: "securepush-\(UUID().uuidString)").path
}

package func removeFile(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
