import ArgumentParser
import Foundation
import Foundations
import Testing

@testable import SecurePushCLI

@Suite(.timeLimit(.minutes(3))) struct CommandLineFailureTests {
    private static func failure(_ arguments: [String]) async -> CommandFailure? {
        do {
            _ = try await SecurePush.asyncParseAsRoot(arguments)
            return nil
        } catch {
            return CommandLineFailure.describe(error, arguments)
        }
    }

    @Test(arguments: [
        (["sendd"], "There is no command `securepush sendd`. Did you mean `securepush send`?"),
        (
            ["dead-letter", "list"],
            "There is no command `securepush dead-letter`. Did you mean `securepush dead-letters`?"
        ),
        (["users", "lst"], "There is no command `securepush users lst`. Did you mean `securepush users list`?"),
        (["inst"], "There is no command `securepush inst`. Did you mean `securepush installations`?"),
        (["zzzzzz"], "There is no command `securepush zzzzzz`."),
        (
            ["send", "--to", "a", "--payload", "x", "--titel", "alice"],
            "Unknown option '--titel'. Did you mean '--title'?"
        ),
        (["list", "--recipiant=alice"], "Unknown option '--recipiant'. Did you mean '--recipient'?"),
        (["list", "--frobnicate"], "Unknown option '--frobnicate'."),
    ])
    func `An unknown name gets the nearest one as a suggestion`(arguments: [String], message: String) async {
        let failure = await Self.failure(arguments)
        #expect(failure?.message == message)
        if arguments == ["list", "--frobnicate"] { #expect(failure?.hint == "See `securepush list --help`.") }
    }

    @Test func `A wrong value names its option, and what the option is for`() async {
        let failure = await Self.failure(["list", "--limit", "many"])
        #expect(failure?.message == "The value is invalid for '--limit <n>'.")
        #expect(failure?.details == ["--limit <n>  Notifications per page, 1 to 200."])
        #expect(failure?.code == .usage)
        for arguments in [
            ["send", "--to", "", "--payload", "x"], ["inbox", "--user", ""], ["list", "--recipient", ""],
            ["send", "--to", "a", "--payload", "x", "--remind", "1s"],
            ["send", "--to", "a", "--payload", "x", "--idempotency-key", "a b"], ["tail", "--window", "0"],
        ] {
            let last = arguments.last { $0.hasPrefix("--") && $0 != "--payload" } ?? "?"
            #expect(await Self.failure(arguments)?.message.contains(last) == true, "\(arguments)")
        }
    }

    @Test func `Help for an unknown command suggests one`() {
        #expect(
            CommandLineFailure.describe(helpRequest: ["help", "sendd"])?.message
                == "There is no command `securepush sendd`. Did you mean `securepush send`?")
        #expect(CommandLineFailure.describe(helpRequest: ["help", "users", "lst"])?.code == .usage)
        for arguments in [
            ["help"], ["help", "send"], ["help", "users", "list"], ["send", "help"], ["help", "help"],
        ] {
            #expect(CommandLineFailure.describe(helpRequest: arguments) == nil, "\(arguments)")
        }
    }

    @Test(arguments: [
        ["snd"], ["help", "snd"], ["list", "--limit", "0"], ["list", "--limit"], ["send"], ["status", "x"], ["list"],
    ])
    func `Every failure begins with "error: " and nothing else does`(arguments: [String]) async throws {
        let run = try await CommandLineRun(arguments)
        #expect(run.code == 64 || run.code == 78)
        #expect(run.errors.hasPrefix("error: ") && run.output.isEmpty, "\(run.errors)")
        #expect(run.errors.components(separatedBy: "rror:").count == 2, "\(run.errors)")
        let json = try await CommandLineRun(arguments + ["--json"])
        let value = JSONValue(text: json.errors)
        #expect(json.code == run.code && value?["Error"]?.text != nil, "\(json.errors)")
    }
}
