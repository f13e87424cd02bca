import ChaosChecker
import Foundations
import NIOHTTP1
import StackKit
import Synchronization

/// The hub emulator, which has its own API for records and faults.
final class EmulatorBackend: PushBackend {
    private struct Message: Decodable {
        let Sequence: Int
        let Kind: String
        let Platform: String?
        let Body: String
        let ReceivedAt: String
        let Accepted: Bool
        let Status: Int?
        let Fault: String?
        let Deliveries: [String]
    }

    private struct FaultNumber: Decodable {
        let Id: Int
    }

    private static let kinds: Set = ["send", "direct", "batch", "scheduled"]

    private let port: Int
    private let http: LoopbackHTTP
    private let seed: UInt64
    private let swallow: Double
    private let silence = Mutex(0)

    /// - Parameter swallow: the share of the pushes that are taken and lost.
    init(port: Int, http: LoopbackHTTP, seed: UInt64, swallow: Double) {
        (self.port, self.http, self.seed, self.swallow) = (port, http, seed % 1_000_000, swallow)
    }

    let place = "hub records"

    var faults: String {
        "errors of the hub (5 % 503, 1 % taken and unanswered, 1 % reset, \(swallow) of all swallowed)"
    }

    func page(after sequence: Int) async throws -> PushPage {
        let answer = try await http.send(
            port: port, "/emulator/messages?After=\(sequence)&Limit=\(PushPage.limit)", timeout: .seconds(20))
        let messages: [Message] = try answer.decoded()
        let first = messages.first?.Sequence ?? sequence + 1
        return PushPage(
            crossings: messages.filter { Self.kinds.contains($0.Kind) }.map { message in
                Crossing(
                    sequence: message.Sequence, platform: message.Platform ?? "",
                    time: Timestamp(rfc3339: message.ReceivedAt)?.milliseconds ?? HistoryWriter.now,
                    body: message.Body, accepted: message.Accepted, status: message.Status, fault: message.Fault,
                    handles: message.Deliveries, audience: message.Platform ?? "")
            }, last: messages.last?.Sequence, count: messages.count, missing: max(0, first - sequence - 1),
            unanswered: messages.count { $0.Fault == "no answer" }, bytes: answer.bytes)
    }

    /// 5 % 503, 1 % taken without an answer, 1 % connections cut, and a share of the pushes taken and lost.
    func beginFaults() async throws {
        try await setFault(#"{"Operation":"send","Status":503,"Rate":0.05,"Seed":\#(seed)}"#)
        try await setFault(#"{"Operation":"send","TimeoutMs":2000,"Accept":true,"Rate":0.01,"Seed":\#(seed + 1)}"#)
        try await setFault(#"{"Operation":"send","Reset":true,"Rate":0.01,"Seed":\#(seed + 2)}"#)
        if swallow > 0 {
            try await setFault(#"{"Operation":"send","Swallow":true,"Rate":\#(swallow),"Seed":\#(seed + 3)}"#)
        }
    }

    func endFaults() async throws { try await remove("/emulator/faults") }

    func beginStorm(_ milliseconds: Int) async throws {
        try await setFault(#"{"Operation":"send","Status":429,"RetryAfter":2,"For":"\#(milliseconds)ms"}"#)
    }

    /// It ends by itself.
    func endStorm() async throws {}

    func beginSilence() async throws {
        let number = try await setFault(#"{"Operation":"send","TimeoutMs":60000}"#)
        silence.withLock { $0 = number }
    }

    func endSilence() async throws { try await remove("/emulator/faults/\(silence.withLock { $0 })") }

    /// - Returns: its number at the emulator.
    @discardableResult private func setFault(_ json: String) async throws -> Int {
        let answer = try await http.send(
            .POST, port: port, "/emulator/faults", json: json, timeout: .seconds(60))
        guard (200..<300).contains(answer.status) else {
            throw Stack.NotStarted(description: "the hub emulator refused a fault: \(answer.status)")
        }
        // All that are in force; the newest has the highest number.
        return try answer.decoded([FaultNumber].self).map(\.Id).max() ?? 0
    }

    private func remove(_ path: String) async throws {
        _ = try await http.send(.DELETE, port: port, path, timeout: .seconds(60))
    }
}
