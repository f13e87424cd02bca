import ArgumentParser
import Domain
import Foundations

extension Display: ExpressibleByArgument {}

/// The options of `send` that make the payload a message, and ask for an answer.
struct MessageOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A title above the payload's text. Both are secret.", valueName: "text"))
    var title: String?

    @Option(help: ArgumentHelp("A link that the app may open. It is secret too.", valueName: "url"))
    var link: String?

    @Option(help: "What devices may show outside the app: full, redacted (while unlocked), or app (nothing).")
    var display: Display?

    @Option(
        help: ArgumentHelp(
            "Ask for an answer, one of these: 1 to 5, separated by commas. Up to three become buttons.",
            valueName: "ids"))
    var answers: String?

    @Option(
        help: ArgumentHelp(
            "The device must send this with the answer: 1 to 16 digits or letters. Show it where the user can see it.",
            valueName: "text"))
    var challenge: String?

    /// The most bytes of UTF-8 of a message's strings.
    private enum Limit {
        static let title = 200
        static let body = 4000
        static let link = 2000
        static let actions = 3
    }

    /// The IDs of the answers, in their order; empty if none is asked for.
    var options: [String] { answers.map { $0.split(separator: ",").map { String($0) } } ?? [] }

    /// Whether a text is sent as a message.
    var makesMessage: Bool { title != nil || link != nil || answers != nil }

    func validate(isJSON: Bool) throws {
        if isJSON, title != nil || link != nil {
            throw ValidationError("--title and --link make a message of a text; write it yourself with --json-payload.")
        }
        if answers != nil {
            let isUnique = Set(options).count == options.count
            guard Question.optionCount.contains(options.count), isUnique, options.allSatisfy(Question.isOption) else {
                throw ValidationError("--answers must be 1 to 5 different IDs of a-z 0-9 -, separated by commas.")
            }
        }
        if let challenge {
            if answers == nil { throw ValidationError("--challenge needs --answers.") }
            if !Question.isChallenge(challenge) {
                throw ValidationError("--challenge must be 1 to 16 digits or letters of ASCII.")
            }
        }
        if (title?.utf8.count ?? 0) > Limit.title { throw ValidationError("--title may have at most 200 bytes.") }
        if (link?.utf8.count ?? 0) > Limit.link { throw ValidationError("--link may have at most 2,000 bytes.") }
    }

    /// The message with a text: `{"Title","Body","Link","Actions"}`.
    ///
    /// - Throws: ``CommandFailure`` if the text is too long for a message.
    func message(_ text: String) throws -> String {
        if text.utf8.count > Limit.body {
            throw CommandFailure(
                .usage, "--payload: the text of a message may have at most 4,000 bytes, not \(text.utf8.count).",
                hint: "Without --title, --link and --answers it may have 256 KiB.")
        }
        var json = JSONWriter()
        json.object { json in
            if let title { json.member("Title", title) }
            json.member("Body", text)
            if let link { json.member("Link", link) }
            // More than a message can have: the app must offer them by itself.
            guard (1...Limit.actions).contains(options.count) else { return }
            json.array("Actions") { json in
                for option in options {
                    json.object { json in
                        json.member("Id", option)
                        json.member("Title", Self.title(of: option))
                    }
                }
            }
        }
        return json.text
    }

    /// The text of a button: `approve-all` becomes `Approve all`.
    private static func title(of option: String) -> String {
        let words = option.replacing("-", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
