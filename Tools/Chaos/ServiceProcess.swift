import ChaosChecker
import Foundation
import Foundations
import StackKit
import Synchronization

/// One process of a service, which may be killed and started again under the same name and port.
final class ServiceProcess: Sendable {
    let name: String
    let port: Int
    private let product: String
    private let products: URL
    private let environment: [String: String]
    private let folder: RunFolder
    private let scripts: Scripts
    private let logs: LogCollector
    private let history: HistoryWriter
    private let state = Mutex(State())

    private struct State {
        var program: Program?
        /// Whether its end is expected.
        var isDown = true
    }

    init(
        _ name: String, product: String, in products: URL, port: Int, environment: [String: String], folder: RunFolder,
        scripts: Scripts, logs: LogCollector, history: HistoryWriter
    ) {
        self.name = name
        (self.product, self.products) = (product, products)
        self.port = port
        self.environment = environment.merging(["HTTP_PORT": "\(port)", "LOG_FORMAT": "json", "ACCESS_LOG": "true"]) {
            $1
        }
        self.folder = folder
        self.scripts = scripts
        self.logs = logs
        self.history = history
    }

    func start() throws {
        // The shell leaves a record by which chaos.sh knows the process again, and becomes the service.
        let program = try Program(
            URL(filePath: "/bin/bash"),
            [
                "-c", #". "$1" && record_process "$2" $$ && exec "$0" serve "$3""#,
                products.appending(path: "securepush").path, scripts.folder.appending(path: "common.sh").path,
                folder.run.appending(path: "\(name).pid").path, product,
            ],
            environment: environment, output: logs.pipe(for: name), folder: folder.secrets)
        state.withLock {
            $0.program = program
            $0.isDown = false
        }
    }

    /// SIGKILL.
    func kill() async {
        guard let program = goDown() else { return }
        program.send(SIGKILL)
        _ = await program.waitUntilEnd(within: .seconds(10))
    }

    /// SIGSTOP or SIGCONT.
    func send(_ signal: Int32) { state.withLock { $0.program }?.send(signal) }

    /// SIGTERM, and SIGKILL when that is not obeyed; the end goes into the history.
    func terminate() async {
        guard let program = goDown(), program.isRunning else { return }
        let begin = ContinuousClock.now
        program.send(SIGTERM)
        if !(await program.waitUntilEnd(within: .seconds(20))) {
            program.send(SIGKILL)
            _ = await program.waitUntilEnd(within: .seconds(10))
        }
        history.write(
            .exit(
                .init(
                    time: HistoryWriter.now, service: name, isAsked: true, code: program.exitCode,
                    took: (ContinuousClock.now - begin).milliseconds)))
    }

    /// Starts it again when it ended and nobody had killed it, which goes into the history.
    func revive() {
        let dead: Program? = state.withLock { state in
            guard !state.isDown, let program = state.program, !program.isRunning else { return nil }
            state.isDown = true
            return program
        }
        guard let dead else { return }
        history.write(
            .exit(.init(time: HistoryWriter.now, service: name, isAsked: false, code: dead.exitCode)))
        try? start()
    }

    private func goDown() -> Program? {
        state.withLock { state in
            state.isDown = true
            return state.program
        }
    }
}
