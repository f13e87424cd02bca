import ArgumentParser
import Testing

@testable import SecurePushCLI

@Suite struct ArgumentTests {
    @Test(arguments: [
        ["send", "--payload", "x"],
        ["send", "--to", "alice"],
        ["send", "--to", "", "--payload", "x"],
        ["send", "--to", "alice", "--payload", "x", "--presentation", "loud"],
        ["send", "--to", "alice", "--payload", "x", "--alert-title", "t"],
        ["send", "--to", "alice", "--payload", "x", "--expires-in", "soon"],
        ["send", "--to", "alice", "--payload", "x", "--expires-in", "1h", "--expires-at", "2030-01-01T00:00:00Z"],
        ["device", "--user", "alice", "--platform", "nokia"],
        ["device", "--user", "alice", "--platform", "apple", "--count", "0"],
        ["device", "--user", "alice", "--platform", "apple", "--password-file", "a", "--token-file", "b"],
        ["device", "--user", "alice"],
        ["device", "--user", "alice", "--platform", "apple", "--challenge", "42"],
        ["device", "--user", "alice", "--platform", "apple", "--devices", "2001"],
        ["device", "--user", "alice", "--platform", "apple", "--devices", "2", "--handle", "aa"],
        ["device", "--user", "load-{n}", "--platform", "apple"],
        ["device", "--user", "load-{n}", "--platform", "apple", "--count", "2001"],
        ["device", "--user", "alice", "--platform", "apple", "--login-after", "soon"],
        ["token", "--user", "alice", "--expires-in", "1h"],
        ["keys", "generate", "--signing-key", "a"],
        ["users", "add"],
        ["setup", "--hub-endpoint"],
        ["unknown"],
    ])
    func `Unusable arguments exit with 64`(arguments: [String]) {
        let error = #expect(throws: (any Error).self) { try SecurePush.parseAsRoot(arguments) }
        #expect(error.map { SecurePush.exitCode(for: $0).rawValue } == 64)
    }

    @Test(arguments: [
        ["users", "list", "--users-file"], ["api-keys", "list", "--api-keys-file"], ["list", "--api-key-file"],
        ["keys", "generate", "--payload-keys-file"], ["keys", "rotate", "--payload-keys-file"],
        ["keys", "generate", "--jwks", "j", "--signing-key"], ["keys", "generate", "--signing-key", "k", "--jwks"],
        ["keys", "generate", "--push", "--push-signing-key-file"], ["list", "--ca-file"], ["setup", "--directory"],
        ["keys", "rotate", "--push", "--push-verification-keys-file"], ["setup", "--directory", "d", "--services"],
        ["token", "--user", "a", "--password-file"], ["token", "--user", "a", "--refresh-token-file"],
    ])
    func `A path has no control character inside`(command: [String]) throws {
        let arguments = command + ["pa\u{202E}th"]
        let error = try #require(throws: (any Error).self) { try SecurePush.parseAsRoot(arguments) }
        let failure = CommandLineFailure.describe(error, arguments)
        #expect(failure.code == .usage)
        #expect(
            failure.message.contains("\(command.last ?? "") <")
                && failure.message.hasSuffix("it has a control character inside (U+202E): remove it."),
            "\(failure.message)")
        _ = try SecurePush.parseAsRoot(command + [" path\r\n"])
    }

    @Test func `A recipient has the same option everywhere`() throws {
        #expect(try SendCommand.parse(["--recipient", "a", "--to", "b", "--payload", "x"]).to == ["a", "b"])
        #expect(try ListCommand.parse(["--to", "a"]).recipient == "a")
        #expect(try TailCommand.parse(["--to", "a"]).recipient == "a")
    }

    @Test func `A path is trimmed as a setting is`() throws {
        #expect(try UsersCommand.FileOptions.parse(["--users-file", " users\u{200B}\r"]).usersFile == "users")
        let keys = try PushKeyOptions.parse(["--push", "--push-signing-key-file", "\u{FEFF}k\n"])
        #expect(keys.files(Settings([:])).signing == "k")
    }

    @Test(arguments: [
        (["--user", "alice"], 1, "alice"), (["--user", "alice", "--count", "1000"], 1, "alice"),
        (["--user", "alice", "--devices", "3", "--count", "9"], 3, "alice"),
        (["--user", "load-{n}", "--count", "1000"], 1000, "load-2"),
        (["--user", "load-{n}", "--devices", "5", "--count", "1000"], 5, "load-2"),
    ])
    func `How many devices there are, and whose`(arguments: [String], devices: Int, second: String) throws {
        let command = try DeviceCommand.parse(arguments + ["--platform", "apple"])
        #expect(command.deviceCount == devices)
        #expect(command.user(of: 1) == second)
    }

    @Test func `A failure in the command ends with its own exit code`() async throws {
        var command = try SendCommand.parse(["--to", "a", "--payload", "{", "--json-payload", "--json"])
        let error = await #expect(throws: ExitCode.self) { try await command.run() }
        #expect(error?.rawValue == 64)
    }

    @Test func `No command takes a secret as the value of a flag`() throws {
        for command in SecurePush.configuration.subcommands + [TokenCommand.self] {
            let help = SecurePush.helpMessage(for: command, columns: 200)
            for flag in ["--password ", "--token ", "--api-key ", "--key "] { #expect(!help.contains(flag)) }
        }
    }

    @Test(arguments: [("90s", 90_000), ("15m", 900_000), ("2h", 7_200_000), ("30d", 2_592_000_000), ("500ms", 500)])
    func `Durations`(text: String, milliseconds: Int64) {
        #expect(DurationArgument(argument: text)?.duration == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "s", "-1s", "1w", "1", "99999999999d"])
    func `No durations`(text: String) {
        #expect(DurationArgument(argument: text) == nil)
    }
}
