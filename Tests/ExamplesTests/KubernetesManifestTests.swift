import Foundation
import StackKit
import TestSupport
import Testing

/// The chart of `deploy/helm`: `scripts/kubernetes-check.sh` renders it and validates its objects. It takes its
/// programs from PyPI. On a machine that does not reach PyPI these tests only say that they were left out; in CI they
/// fail.
@Suite(.timeLimit(.minutes(10)), .serialized) struct KubernetesManifestTests {
    private static let script = TestEnvironment.packageRoot.appending(path: "scripts/kubernetes-check.sh").path
    /// EX_UNAVAILABLE.
    private static let unavailable: Int32 = 69

    @Test func `The chart's objects are valid`() async throws {
        guard let output = try await check() else { return }
        let summary = try #require(
            output.firstMatch(of: /(\d+) files, (\d+) objects, (\d+) validations .*, 0 failures/), "\(output)")
        #expect(try #require(Int(summary.1)) >= 3 && #require(Int(summary.2)) >= 60)
        print(summary.0)
    }

    /// Otherwise the test above could pass without looking at anything.
    @Test func `Mistakes are found`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "deploy-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let deploy = folder.appending(path: "deploy")
        for name in ["deploy", "docs/reference/configuration.md"] {
            let copy = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: TestEnvironment.packageRoot.appending(path: name), to: copy)
        }
        // Misspelled members of Kubernetes and of an operator, a right too many, a broker for retrieval, an unknown
        // setting, and a broker's pod that the namespace would refuse.
        let services = "helm/securepush/templates/services.yaml"
        let helpers = "helm/securepush/templates/_helpers.tpl"
        try replace("terminationGracePeriodSeconds", "terminationGraceSeconds", in: services, deploy)
        try replace("readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", in: helpers, deploy)
        try replace("- port: 443", "- port: 5671", in: "helm/securepush/templates/network-policies.yaml", deploy)
        try replace("HUB_NAME:", "HUB_NAMES:", in: "helm/securepush/values.yaml", deploy)
        try replace("pollingInterval", "pollInterval", in: "helm/securepush/templates/keda.yaml", deploy)
        try replace("runAsNonRoot: true", "runAsNonRoot: false", in: broker, deploy)
        do {
            guard let output = try await check(deploy) else { return }
            Issue.record("The check passed: \(output)")
        } catch let error as ProgramFailed {
            for problem in [
                "'terminationGraceSeconds' was unexpected", "Deployment securepush-dispatcher may write to its image",
                "retrieval reaches the broker", "HUB_NAMES is no setting", "'pollInterval' was unexpected",
                "securityContext/runAsNonRoot: True was expected",
            ] {
                #expect(error.output.contains(problem), "\(problem): \(error.output.suffix(4000))")
            }
        }
    }

    private let broker = "helm/securepush/templates/rabbitmq.yaml"

    private func replace(_ text: String, _ other: String, in path: String, _ folder: URL) throws {
        let file = folder.appending(path: path)
        let old = try String(contentsOf: file, encoding: .utf8)
        let new = old.replacingOccurrences(of: text, with: other)
        try #require(new != old, "\(path) has no \(text)")
        try new.write(to: file, atomically: true, encoding: .utf8)
    }

    /// What the script prints; `nil` if its programs cannot be had.
    private func check(_ folder: URL? = nil) async throws -> String? {
        do {
            return try await run("/bin/bash", [Self.script] + (folder.map { [$0.path] } ?? []))
        } catch let error as ProgramFailed where error.exitCode == Self.unavailable {
            let isCI = ProcessInfo.processInfo.environment["CI"] != nil
            try #require(!isCI, "\(error)")
            print("SKIPPED: the manifests were not checked. \(error.output)")
            return nil
        }
    }
}
