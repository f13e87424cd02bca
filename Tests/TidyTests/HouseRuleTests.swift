import Testing

/// The house rules that a reader could check with a ruler.
@Suite struct HouseRuleTests {
    @Test(arguments: SourceFile.all)
    func filesAreShort(_ file: SourceFile) {
        #expect(file.lines.count <= 401, "\(file.path) has \(file.lines.count - 1) lines; the cap is 400")
    }

    @Test(arguments: SourceFile.all)
    func linesFit(_ file: SourceFile) {
        for (number, line) in file.lines.enumerated() where line.utf8.count > 120 && line.count > 120 {
            Issue.record("\(file.path):\(number + 1) has \(line.count) characters; the limit is 120")
        }
    }

    @Test func mostFilesAreSmall() {
        let counts = SourceFile.production.map { $0.lines.count - 1 }.sorted()
        #expect(counts[counts.count / 2] <= 100)
        #expect(counts[counts.count * 95 / 100] <= 300)
    }

    @Test(arguments: SourceFile.all)
    func functionsAreShort(_ file: SourceFile) {
        for function in FunctionLengths.of(file.lines) where function.length > 70 {
            Issue.record("\(file.path):\(function.line) has a function of \(function.length) lines; the cap is 70")
        }
    }

    @Test(arguments: SourceFile.production.filter { $0.lines.contains("@main") })
    func entryFilesOnlyStart(_ file: SourceFile) {
        #expect(file.lines.count <= 61, "\(file.path) has \(file.lines.count - 1) lines; an entry file has 60 at most")
    }

    /// Words that must not stand in the sources, and where they may all the same.
    static let banned: [(pattern: String, exceptions: [String])] = [
        ("try!", []), ("TODO", []), ("FIXME", []),
        ("fatalError(", []), ("Task.detached", []), ("DispatchSemaphore", []), ("as! ", []),
        ("print(", ["Services/SecurePushCLI/", "Services/HubEmulator/", "Shared/ServiceRuntime/Main/"]),
        ("import FoundationXML", []), ("—", []),
    ]

    @Test(arguments: SourceFile.production)
    func bannedWordsAreAbsent(_ file: SourceFile) {
        for (number, line) in file.lines.enumerated() {
            // A word with a letter before it is another word: "fingerprint(" does not print.
            for (pattern, exceptions) in Self.banned where line.holdsWord(pattern) {
                if exceptions.contains(where: file.path.hasPrefix) { continue }
                Issue.record("\(file.path):\(number + 1) has \(pattern)")
            }
        }
    }

    /// AsyncHTTPClient offers TLS 1.0 unless it is told otherwise (security review, finding 14).
    @Test(arguments: SourceFile.production)
    func everyHTTPClientHasTheSharedTLSSettings(_ file: SourceFile) {
        let text = file.lines.joined(separator: "\n")
        guard text.contains("HTTPClient.Configuration(") || text.contains("HTTPClient.shared") else { return }
        #expect(!text.contains("HTTPClient.shared"), "\(file.path): the shared client offers old TLS versions")
        #expect(text.contains("tlsConfiguration: OutgoingTLS.configuration"), "\(file.path)")
    }

    @Test(arguments: SourceFile.production)
    func uncheckedSendingCarriesItsProof(_ file: SourceFile) {
        for (number, line) in file.lines.enumerated()
        where line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
            let above = number > 0 ? file.lines[number - 1].drop { $0 == " " } : ""
            #expect(above.hasPrefix("//"), "\(file.path):\(number + 1) must say in the line above why it is safe")
        }
    }

    /// A loaded machine is late with everything; what never comes is found by a suite's time limit.
    @Test(arguments: SourceFile.all.filter { $0.path.hasPrefix("Tests/") })
    func noTestFailsOnASlowMachine(_ file: SourceFile) {
        for (number, line) in file.lines.enumerated() where line.contains("#expect") {
            guard line.contains("Clock.now - ") || line.contains(".duration(to: .now)") else { continue }
            let isBound = [" < ", " <= ", "...(", "..<("].contains { line.contains($0) }
            #expect(!isBound, "\(file.path):\(number + 1) has an upper bound on wall time")
        }
    }

    @Test(arguments: SourceFile.all)
    func noMachineIsNamed(_ file: SourceFile) {
        for (number, line) in file.lines.enumerated() {
            for path in ["/wo" + "rk/", "/op" + "t/swift"] where line.contains(path) {
                Issue.record("\(file.path):\(number + 1) names a path of one machine")
            }
        }
    }
}

extension String {
    /// Whether a pattern occurs where no letter stands before it.
    fileprivate func holdsWord(_ pattern: String) -> Bool {
        ranges(of: pattern).contains { range in
            range.lowerBound == startIndex || !self[index(before: range.lowerBound)].isLetter
        }
    }
}
