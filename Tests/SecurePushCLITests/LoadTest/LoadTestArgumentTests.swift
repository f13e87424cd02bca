import ArgumentParser
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct LoadTestArgumentTests {
    @Test(arguments: [
        ["--count", "0"], ["--count", "1000001"], ["--count", "-5"], ["--count", "many"], ["--rate", "0"],
        ["--concurrency", "0"], ["--concurrency", "1025"], ["--recipients", "0"], ["--recipients", "1000001"],
        ["--payload-size", "0"], ["--payload-size", "262145"], ["--batch", "0"], ["--batch", "10001"],
        ["--batch", "10000", "--payload-size", "262144"], ["--to", ""], ["--devices", "-1"],
        ["--devices", "101"], ["--devices", "2", "--to", "alice"], ["--devices", "2001", "--recipients", "3000"],
        ["--devices", "1", "--platform", "gcm"], ["--drain-timeout", "long"], ["--ingest-url"], ["more"],
    ])
    func `Unusable arguments of load-test exit with 64`(arguments: [String]) {
        let error = #expect(throws: (any Error).self) { try SecurePush.parseAsRoot(["load-test"] + arguments) }
        #expect(error.map { SecurePush.exitCode(for: $0).rawValue } == 64)
    }

    @Test(arguments: [
        ["top", "--interval", "10ms"], ["top", "--interval", "2h"], ["top", "--interval"], ["top", "x"],
        ["tail", "--status", "lost"], ["tail", "--recipient", ""], ["tail", "--window", "0"],
        ["tail", "--window", "201"], ["tail", "--last", "201"], ["tail", "--count", "0"],
        ["tail", "--interval", "1ms"],
    ])
    func `Unusable arguments of top and tail exit with 64`(arguments: [String]) {
        let error = #expect(throws: (any Error).self) { try SecurePush.parseAsRoot(arguments) }
        #expect(error.map { SecurePush.exitCode(for: $0).rawValue } == 64)
    }

    @Test func `The plan is what the flags say`() throws {
        let command = try LoadTestCommand.parse(["--count", "1000000", "--batch", "500", "--no-wait", "--rate", "9"])
        #expect(
            command.plan
                == LoadPlan(count: 1_000_000, rate: 9, concurrency: 4, batch: 500, usesBatchRoute: true, waits: false))
        #expect(try LoadTestCommand.parse([]).plan == LoadPlan())
    }

    @Test(arguments: ["http://127.0.0.1:1", "http://127.0.0.1:1/"])
    func `A service that is away exits with 69`(url: String) async throws {
        try await withTemporaryFolder { folder in
            try SecretFile.create("\(folder)/key", "key")
            for name in [["load-test"], ["tail"]] {
                let arguments = name + ["--ingest-url", url, "--api-key-file", "\(folder)/key", "--json"]
                var command = try #require(try SecurePush.parseAsRoot(arguments) as? any AsyncParsableCommand)
                let error = await #expect(throws: ExitCode.self) { try await command.run() }
                #expect(error?.rawValue == 69)
            }
        }
    }

    @Test func `Without an API key the exit code is 78`() async throws {
        var command = try LoadTestCommand.parse(["--api-key-file", "/nowhere/key", "--json"])
        let error = await #expect(throws: ExitCode.self) { try await command.run() }
        #expect(error?.rawValue == 78)
    }

    @Test func `top of services that are all away exits with 69`() async throws {
        let away = "http://127.0.0.1:1"
        var command = try TopCommand.parse([
            "--ingest-url", away, "--retrieval-url", away, "--dispatcher", away, "--once", "--json",
        ])
        let error = await #expect(throws: ExitCode.self) { try await command.run() }
        #expect(error?.rawValue == 69)
    }
}
