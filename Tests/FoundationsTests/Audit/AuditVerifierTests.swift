import Testing

@testable import Foundations

/// Faults in the chain of an audit log.
struct AuditVerifierTests {
    /// Lines of a chain.
    private static func chain(_ count: Int, after hash: AuditHash = .none) -> [[UInt8]] {
        var hash = hash
        return (0..<count).map { number in
            let line = AuditEntry(service: "test", action: "a", id: "\(number)").line(after: hash)
            hash = AuditHash(of: line)
            return line
        }
    }

    private func report(
        _ lines: [[UInt8]], wanted: AuditHash? = nil, allowsRestarts: Bool = false
    ) -> AuditVerifier.Report {
        var verifier = AuditVerifier(wanted: wanted, allowsRestarts: allowsRestarts)
        for (index, line) in lines.enumerated() { verifier.check(line, at: "line \(index + 1)") }
        return verifier.report
    }

    @Test func `An intact chain has no fault, and its hashes are found`() {
        let lines = Self.chain(5)
        let result = report(lines, wanted: AuditHash(of: lines[2]))
        #expect(result.fault == nil && result.lines == 5 && result.isFound)
        #expect(!report(Self.chain(5), wanted: AuditHash(of: [1])).isFound)
        #expect(report([]).lines == 0)
    }

    @Test(arguments: ["change", "removal", "insertion", "exchange", "removal of the first"])
    func `Each change of a line is a fault at the line after it`(change: String) {
        var lines = Self.chain(5)
        switch change {
        case "change": lines[2] = AuditEntry(service: "test", action: "b").line(after: AuditHash(of: lines[1]))
        case "removal": lines.remove(at: 2)
        case "insertion": lines.insert(lines[1], at: 2)
        case "exchange": lines.swapAt(1, 2)
        default: lines.removeFirst()
        }
        let result = report(lines)
        guard change != "removal of the first" else {
            // The rest continues an earlier file, which is named so.
            #expect(result.fault == nil && result.earlier != .none)
            return
        }
        let place = change == "change" ? "line 4" : change == "exchange" ? "line 2" : "line 3"
        #expect(result.fault?.hasPrefix("\(place): `prev` is not the hash") == true, "\(result.fault ?? "none")")
    }

    @Test func `A cut end is only found by a hash that was kept`() {
        let lines = Self.chain(5)
        #expect(report(Array(lines.prefix(3))).fault == nil)
        #expect(!report(Array(lines.prefix(3)), wanted: AuditHash(of: lines[4])).isFound)
    }

    @Test func `A new chain is a fault unless restarts are allowed`() {
        let lines = Self.chain(3) + Self.chain(2)
        #expect(report(lines).fault?.hasPrefix("line 4: A new chain begins") == true)
        let allowed = report(lines, allowsRestarts: true)
        #expect(allowed.fault == nil && allowed.restarts == 1 && allowed.lines == 5)
    }

    @Test(arguments: ["", "hello", "[]", #"{"time":"x"}"#, #"{"prev":"12"}"#, #"{"prev":7}"#])
    func `Other files are no audit logs`(text: String) {
        #expect(report([Array(text.utf8)]).fault?.contains("not a line of an audit log") == true)
    }

    @Test func `A line that is too long is a fault`() {
        let line = [UInt8](repeating: 0x20, count: AuditVerifier.maxLine + 1)
        #expect(report([line]).fault?.contains("longer") == true)
    }
}
