import Foundation
import StackKit
import TestSupport
import Testing

/// docs/reference/http-api.md: each of its commands is run, in its order, against services as in production.
@Suite("docs/reference/http-api.md", .serialized, .broker, .timeLimit(.minutes(5)))
struct APIDocumentTests {
    @Test func `The page's commands give the answers that it shows`() async throws {
        try await withStack { stack in
            var environment = try await start(stack)
            let steps = try APIDocument.read().steps
            #expect(steps.count >= 20)
            for step in steps {
                let answer = try await run(step.commands, environment, in: stack.folder)
                #expect(answer.statusLine == step.shown.statusLine, "\(step.heading): \(answer.body)")
                let missing = step.shown.headers.subtracting(answer.headers)
                #expect(missing.isEmpty, "\(step.heading): \(missing)")
                if !step.shown.body.isEmpty {
                    #expect(answer.shapes == step.shown.shapes, "\(step.heading): \(answer.body)")
                }
                environment.merge(answer.values) { $1 }
            }
        }
    }

    @Test func `The page shows every operation`() async throws {
        try await withStack { stack in
            let environment = try await start(stack)
            let document = try APIDocument.read()
            for (section, variable) in [("Ingest", "INGEST_URL"), ("Retrieval", "RETRIEVAL_URL")] {
                let command = #"curl -i "$\#(variable)/openapi.json""#
                let answer = try await run(command, environment, in: stack.folder)
                let description = APIDescription(try JSONNode(Array(answer.body.utf8)))
                let shown = document.operations(in: [section, "Both"])
                #expect(description.routes.subtracting(shown) == [], "\(section)")
                #expect(shown.subtracting(description.routes) == [], "\(section)")
            }
        }
    }

    /// Starts both APIs and a hub, with users that have passwords.
    ///
    /// - Returns: what the page's commands have in their environment.
    private func start(_ stack: Stack) async throws -> [String: String] {
        let folder = stack.folder.appending(path: "setup")
        let setup = try ProcessUnderTest("securepush", ["setup", "--directory", folder.path], folder: stack.folder)
        #expect(try await setup.exitCode() == 0, "\(setup.standardError)")
        let secret = { (name: String) in folder.appending(path: "secrets/\(name)").path }
        let line = try String(contentsOfFile: secret("hub-connection-string"), encoding: .utf8).trimmed
        let emulator = try await stack.start("hub-emulator", ["EMULATOR_CONNECTION_STRING": line])
        let parts = line.split(separator: ";").dropFirst().joined(separator: ";")
        let users = ["AUTH_USERS_FILE": secret("users")]
        let ingest = try await stack.start("ingest", users)
        let settings = [
            "AUTH_TOKEN_SIGNING_KEY_FILE": secret("token-signing-key.pem"), "AUTH_REFRESH_TTL": "1h",
            "HUB_CONNECTION_STRING": "Endpoint=http://127.0.0.1:\(emulator.port)/;\(parts)", "HUB_NAME": "securepush",
            "WEB_PUSH_PUBLIC_KEY_FILE": secret("web-push-public-key"),
        ]
        let retrieval = try await stack.start("retrieval", users.merging(settings) { $1 })
        return [
            "INGEST_URL": "http://127.0.0.1:\(ingest.port)", "INGEST_API_KEY": stack.apiKey,
            "RETRIEVAL_URL": "http://127.0.0.1:\(retrieval.port)",
            "PASSWORD": try String(contentsOfFile: secret("alice.password"), encoding: .utf8).trimmed,
            "HANDLE": "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
        ]
    }

    private func run(_ commands: String, _ environment: [String: String], in folder: URL) async throws -> APIAnswer {
        let script = folder.appending(path: "commands.sh")
        let exports = environment.map { "export \($0.key)='\($0.value)'\n" }.joined()
        // A proxy would only be in the way of loopback; curl's progress is no part of the answer.
        let head = "set -euo pipefail\ncd '\(folder.path)'\nunset http_proxy HTTP_PROXY\n"
        try Data("\(head)\(exports){\n\(commands)\n} 2>errors".utf8).write(to: script)
        return APIAnswer(try await StackKit.run("/bin/bash", [script.path]))
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
