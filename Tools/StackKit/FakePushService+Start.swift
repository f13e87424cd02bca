package import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension FakePushService {
    /// Starts the service. The first time, it gets its packages from PyPI.
    ///
    /// - Parameters:
    ///   - folder: gets its certificate and its output.
    ///   - options: of `scripts/push-services/serve.py`, such as `--http1`.
    ///   - record: gets the process ID for `recorded_process` of `scripts/common.sh`; `nil` for none.
    package static func start(
        _ kind: Kind, in folder: URL, options: [String] = [], scripts: Scripts = .ofThisCheckout, record: URL? = nil
    ) async throws -> (service: FakePushService, program: Program) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let output = folder.appending(path: "output")
        let note = record == nil ? "" : #". "$1" && record_process "$2" $$ && "#
        let program = try Program(
            URL(filePath: "/bin/bash"),
            [
                "-c", note + #"shift 2 && exec "$0" serve "$@""#,
                scripts.folder.appending(path: "push-services.sh").path,
                scripts.folder.appending(path: "common.sh").path, record?.path ?? "", kind.rawValue, folder.path,
            ] + options,
            environment: ProcessInfo.processInfo.environment, output: output, folder: folder)
        do {
            return (try await FakePushService(kind, started: program, output: output), program)
        } catch {
            await end(program)
            throw error
        }
    }

    /// Ends a service that was started.
    package static func end(_ program: Program) async {
        program.send(SIGTERM)
        _ = await program.waitUntilEnd(within: .seconds(10))
        program.send(SIGKILL)
    }
}

/// Runs a service for the time of the body, with a folder of its own.
package func withPushService(
    _ kind: FakePushService.Kind, _ options: [String] = [], scripts: Scripts = .ofThisCheckout,
    _ body: (FakePushService) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-push-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let (service, program) = try await FakePushService.start(kind, in: folder, options: options, scripts: scripts)
    let result: Result<Void, any Error>
    do { result = .success(try await body(service)) } catch { result = .failure(error) }
    await FakePushService.end(program)
    try result.get()
}
