import Testing

/// House rules that neither the compiler nor swift-format checks, and whose breach a review overlooks.
@Suite struct HouseRuleTests {
    /// Words that must not stand in the sources, and where they may all the same.
    static let banned: [(pattern: String, exceptions: [String])] = [
        ("fatalError(", []), ("Task.detached", []), ("DispatchSemaphore", []), ("as! ", []),
        ("print(", ["Services/SecurePushCLI/", "Services/Hub/", "Shared/ServiceRuntime/Main/"]),
        ("import FoundationXML", []),
    ]

    @Test(arguments: SourceFile.production)
    func `Banned words are absent`(_ file: SourceFile) {
        for (number, line) in file.lines.enumerated() {
            // A word with a letter before it is another word: "fingerprint(" does not print.
            for (pattern, exceptions) in Self.banned where line.holdsWord(pattern) {
                if exceptions.contains(where: file.path.hasPrefix) { continue }
                Issue.record("\(file.path):\(number + 1) has \(pattern)")
            }
        }
    }

    /// A task that an initialiser starts has no owner who waits for it.
    @Test(arguments: SourceFile.production)
    func `Initialisers start no task`(_ file: SourceFile) {
        var end: String?
        for (number, line) in file.lines.enumerated() {
            if let closing = end {
                #expect(!line.contains("Task {"), "\(file.path):\(number + 1) starts a task in an initialiser")
                if line.hasPrefix(closing) { end = nil }
            } else if line.contains(/^ *([a-z]+ )*init\??[(<]/), !line.hasSuffix("}") {
                end = line.prefix { $0 == " " } + "}"
            }
        }
    }

    /// AsyncHTTPClient offers TLS 1.0 unless it is told otherwise (security review, finding 14).
    @Test(arguments: SourceFile.production)
    func `Every HTTP client has the shared TLS settings`(_ file: SourceFile) {
        let text = file.lines.joined(separator: "\n")
        guard text.contains("HTTPClient.Configuration(") || text.contains("HTTPClient.shared") else { return }
        #expect(!text.contains("HTTPClient.shared"), "\(file.path): the shared client offers old TLS versions")
        // `Network` of the command line adds the authorities of --ca-file to the shared settings.
        let isShared =
            text.contains("tlsConfiguration: OutgoingTLS.configuration")
            || text.contains("tlsConfiguration: Network.current.tls") || text.contains("var tls = outgoing.tls")
        #expect(isShared, "\(file.path)")
    }

    /// The comment above must name the thing that orders the accesses, or say that nothing changes.
    @Test(arguments: SourceFile.production)
    func `Unchecked sendability carries its proof`(_ file: SourceFile) {
        let reasons = [
            "event loop", "thread", "lock", "Mutex", "executor", "immutable", "owns", "owned", "never change",
        ]
        for (number, line) in file.lines.enumerated()
        where line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
            let above = file.lines[..<number].reversed().map { $0.drop { $0 == " " } }
                .drop { $0.hasPrefix("@") }.prefix { $0.hasPrefix("//") }.joined(separator: " ")
            let hasProof = reasons.contains { above.contains($0) }
            #expect(hasProof, "\(file.path):\(number + 1) must say in the comment above why it is safe")
        }
    }

    /// A machine of two processors has two threads of Swift's pool. Two tests that hold one each, while they wait for
    /// a program, stop the server that the program asks. `result(of:)` of StackKit waits without a thread.
    @Test(arguments: SourceFile.all.filter { $0.path.hasPrefix("Tests/") || $0.path.hasPrefix("Tools/") })
    func `No test holds a thread while a program runs`(_ file: SourceFile) {
        for (number, line) in file.lines.enumerated() where !file.path.hasSuffix("/HouseRuleTests.swift") {
            let waits = ["waitUntilExit(", "readDataToEndOfFile("].contains { line.contains($0) }
            #expect(!waits, "\(file.path):\(number + 1) waits for a program; use result(of:)")
        }
    }

    /// A loaded machine is late with everything; what never comes is found by a suite's time limit.
    @Test(arguments: SourceFile.all.filter { $0.path.hasPrefix("Tests/") || $0.path.contains("/Tests/") })
    func `No test fails on a slow machine`(_ file: SourceFile) {
        for (number, line) in file.lines.enumerated() where line.contains("#expect") {
            guard line.contains("Clock.now - ") || line.contains(".duration(to: .now)") else { continue }
            let isBound = [" < ", " <= ", "...(", "..<("].contains { line.contains($0) }
            #expect(!isBound, "\(file.path):\(number + 1) has an upper bound on wall time")
        }
    }

    @Test(arguments: SourceFile.all)
    func `No machine is named`(_ file: SourceFile) {
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
