import Foundation
import StackKit
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `scripts/otlp-collector.sh`, which reads spans by opentelemetry-proto.
struct Collector: Sendable {
    let port: Int
    fileprivate let file: URL
    fileprivate let output: URL

    var url: String { "http://127.0.0.1:\(port)" }

    /// All spans as they arrived.
    var text: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    /// What it has refused; empty if it could read everything.
    var refusals: String {
        let lines = (try? String(contentsOf: output, encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.filter { $0.hasPrefix("refused") }.joined(separator: "\n")
    }

    func spans() throws -> [CollectedSpan] {
        try text.split(separator: "\n").map { try CollectedSpan(line: String($0)) }
    }
}

/// A span as the collector writes it.
struct CollectedSpan: Sendable {
    var trace, span, parent, kind, name, status, service, instance: String
    var start, end: UInt64
    var attributes: [String: String]

    fileprivate init(line: String) throws {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        func text(_ name: String) -> String { object[name] as? String ?? "" }
        let resource = object["resource"] as? [String: Any]
        (trace, span, parent, kind) = (text("trace"), text("span"), text("parent"), text("kind"))
        (name, status) = (text("name"), text("status"))
        service = resource?["service.name"] as? String ?? ""
        instance = resource?["service.instance.id"] as? String ?? ""
        start = (object["start"] as? NSNumber)?.uint64Value ?? 0
        end = (object["end"] as? NSNumber)?.uint64Value ?? 0
        attributes = (object["attributes"] as? [String: Any] ?? [:]).mapValues { "\($0)" }
    }
}

/// Runs a collector for the time of the body. The first time, it installs itself from PyPI.
func withCollector(_ folder: URL, _ body: (Collector) async throws -> Void) async throws {
    struct NotListening: Error { let output: String }
    let output = folder.appending(path: "collector.out")
    let file = folder.appending(path: "spans.jsonl")
    let script = TestEnvironment.packageRoot.appending(path: "scripts/otlp-collector.sh")
    let program = try Program(
        script, ["serve", file.path, "0"], environment: ProcessInfo.processInfo.environment, output: output,
        folder: folder)
    defer { program.send(SIGTERM) }
    func printed() -> String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    var port: Int?
    _ = try await eventually(within: .seconds(120)) {
        let line = printed().split(separator: "\n").first { $0.hasPrefix("listening on ") }
        port = line?.split(separator: ":").last.flatMap { Int($0) }
        return port != nil || !program.isRunning
    }
    guard let port else { throw NotListening(output: printed()) }
    try await body(Collector(port: port, file: file, output: output))
}
