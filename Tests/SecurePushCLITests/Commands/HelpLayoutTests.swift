import ArgumentParser
import Testing

@testable import SecurePushCLI

@Suite struct HelpLayoutTests {
    private static func help(_ command: CommandPath, _ width: Int) -> [String] {
        let text = SecurePush.helpMessage(for: command.type, columns: HelpText.unwrapped)
        return HelpText.wrap(text, to: width).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test(arguments: CommandPath.all, [60, 80, 100])
    func `No line of a help is longer than the terminal is wide`(command: CommandPath, width: Int) {
        for line in Self.help(command, width) { #expect(line.count <= width, "\(command.name): \(line)") }
    }

    @Test(arguments: CommandPath.all, [60, 80, 100])
    func `Paragraphs are filled: a word stands on the next line only if there is no room for it`(
        command: CommandPath, width: Int
    ) {
        let lines = Self.help(command, width)
        let end = lines.firstIndex { $0 == "EXAMPLES" || $0.hasPrefix("USAGE: ") } ?? lines.endIndex
        for (line, next) in zip(lines[..<end], lines[..<end].dropFirst()) {
            guard !line.isEmpty, !next.isEmpty else { continue }
            // A list has its entries on lines of their own.
            let startsEntry = !next.hasPrefix(" ") && (next.hasPrefix("- ") || next.contains("  "))
            let word = next.split(separator: " ").first ?? ""
            #expect(startsEntry || line.count + 1 + word.count > width, "\(command.name): \(line)|\(next)")
        }
    }

    @Test(arguments: CommandPath.all)
    func `Nothing is lost`(command: CommandPath) {
        let text = SecurePush.helpMessage(for: command.type, columns: HelpText.unwrapped)
        let wrapped = Self.help(command, 60).map { $0.hasSuffix(" \\") ? String($0.dropLast()) : $0 }
        #expect(wrapped.flatMap { TextFill.words($0) } == text.split(separator: "\n").flatMap { TextFill.words($0) })
    }

    @Test func `Lists keep their indentation, and examples become lines that a shell continues`() {
        let text = """
            OVERVIEW: Do it.

            One two three
            four five.

            term  the first of two words
                  and more
            other second

            EXAMPLES
              do --this "a b c" --that file

            USAGE: do [--this <n>] [--that <file>] <name> ...

            OPTIONS:
              --this <n>              A number that is long enough to wrap.
            """
        #expect(
            HelpText.wrap(text, to: 40) == """
                OVERVIEW: Do it.

                One two three four five.

                term  the first of two words and more
                other second

                EXAMPLES
                  do --this "a b c" --that file

                USAGE: do [--this <n>] [--that <file>]
                       <name> ...

                OPTIONS:
                  --this <n>              A number that
                                          is long enough
                                          to wrap.
                """)
        #expect(
            ShellLine.wrap("  do --this \"a b c\" --that file | cat", to: 24)
                == ["  do --this \"a b c\" \\", "      --that file | \\", "      cat"])
    }

    @Test(arguments: [["send", "--help"], ["help", "send"], ["send", "-h"]])
    func `Each way to ask for help shows the same, as wide as the terminal`(arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandLineRun(arguments, in: folder)
            #expect(run.code == 0 && run.errors.isEmpty)
            #expect(run.output.hasPrefix("OVERVIEW: ") && run.lines.contains { $0.hasPrefix("USAGE: securepush send") })
            #expect(run.lines.allSatisfy { $0.count <= 80 } && run.lines.contains { $0.count > 70 })
            let narrow = try await TerminalRun(arguments, in: folder, columns: 60)
            #expect(narrow.code == 0 && narrow.lines.allSatisfy { $0.count <= 60 })
            let wide = try await TerminalRun(arguments, in: folder, columns: 200)
            #expect(wide.lines.allSatisfy { $0.count <= 100 } && wide.lines.contains { $0.count > 80 })
        }
    }
}
