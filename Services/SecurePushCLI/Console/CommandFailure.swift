import ArgumentParser

/// Why a command did not do what it was asked, with the exit code that scripts see.
struct CommandFailure: Error, Sendable, Equatable {
    /// The exit codes of `securepush` (sysexits.h where it has a name for the case).
    enum Code: Int32, Sendable {
        case failed = 1
        /// EX_USAGE
        case usage = 64
        /// EX_UNAVAILABLE
        case unreachable = 69
        /// EX_CONFIG
        case configuration = 78
    }

    var code: Code
    /// One sentence.
    var message: String
    /// Further lines, one for each thing that is wrong.
    var details: [String] = []
    /// What to do about it.
    var hint: String?

    init(_ code: Code, _ message: String, details: [String] = [], hint: String? = nil) {
        self.code = code
        self.message = message
        self.details = details
        self.hint = hint
    }

    /// The exit code as the argument parser knows it.
    var exitCode: ExitCode { ExitCode(code.rawValue) }
}

extension CommandFailure: Encodable {
    private enum CodingKeys: String, CodingKey {
        case code = "Code"
        case message = "Error"
        case details = "Details"
        case hint = "Hint"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(message, forKey: .message)
        if !details.isEmpty { try container.encode(details, forKey: .details) }
        try container.encodeIfPresent(hint, forKey: .hint)
    }
}
