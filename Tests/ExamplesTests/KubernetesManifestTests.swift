import Foundation
import StackKit
import TestSupport
import Testing

/// The manifests and the chart of `deploy`: `scripts/kubernetes-check.sh` renders and validates them. It takes its
/// programs from PyPI. On a machine that does not reach PyPI these tests only say that they were left out; in CI they
/// fail.
@Suite(.timeLimit(.minutes(10)), .serialized) struct KubernetesManifestTests {
    private static let script = TestEnvironment.packageRoot.appending(path: "scripts/kubernetes-check.sh").path
    /// EX_UNAVAILABLE.
    private static let unavailable: Int32 = 69

    @Test func theManifestsAreValidAndTheChartRendersTheSameObjects() async throws {
        guard let output = try await check() else { return }
        let summary = try #require(
            output.firstMatch(of: /(\d+) files, (\d+) objects, (\d+) validations .*, 0 failures/), "\(output)")
        #expect(try #require(Int(summary.1)) >= 20 && #require(Int(summary.2)) >= 100)
        print(summary.0)
    }

    /// Otherwise the test above could pass without looking at anything.
    @Test func mistakesAreFound() async throws {
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
        // setting, a broker's pod that the namespace would refuse, and a page that only the chart serves.
        let ingest = "kubernetes/base/ingest.yaml"
        try replace("terminationGracePeriodSeconds", "terminationGraceSeconds", in: ingest, deploy)
        try replace("readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", in: dispatcher, deploy)
        try replace("- port: 443", "- port: 5671", in: "kubernetes/base/network-policies.yaml", deploy)
        try replace("HUB_NAME:", "HUB_NAMES:", in: "kubernetes/base/retrieval.yaml", deploy)
        try replace("pollingInterval", "pollInterval", in: "kubernetes/components/keda/dispatcher.yaml", deploy)
        try replace("runAsNonRoot: true", "runAsNonRoot: false", in: broker, deploy)
        try replace("8083", "8084", in: "kubernetes/components/operator-page/kustomization.yaml", deploy)
        try replace("maxSurge: 1", "maxSurge: 2", in: "helm/securepush/templates/services.yaml", deploy)
        do {
            guard let output = try await check(deploy) else { return }
            Issue.record("The check passed: \(output)")
        } catch let error as ProgramFailed {
            for problem in [
                "'terminationGraceSeconds' was unexpected", "Deployment securepush-dispatcher may write to its image",
                "retrieval reaches the broker", "HUB_NAMES is no setting", "'pollInterval' was unexpected",
                "securityContext/runAsNonRoot: True was expected",
                "ConfigMap securepush-ingest/data/ADMIN_PORT: '8084' and '8083'",
                "Deployment securepush-ingest/spec/strategy/rollingUpdate/maxSurge: 1 and 2",
            ] {
                #expect(error.output.contains(problem), "\(problem): \(error.output.suffix(4000))")
            }
        }
    }

    private let dispatcher = "kubernetes/base/dispatcher.yaml"
    private let broker = "kubernetes/components/rabbitmq/cluster.yaml"

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
