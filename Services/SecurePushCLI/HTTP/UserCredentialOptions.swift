import ArgumentParser
import Foundation

/// What a user presents to the retrieval service: a file that is given, else the environment's token.
struct UserCredentialOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A file with the user's password.", valueName: "file"))
    var passwordFile: String?

    @Option(help: ArgumentHelp("A file with the user's token (else RETRIEVAL_TOKEN).", valueName: "file"))
    var tokenFile: String?

    func validate() throws {
        if passwordFile != nil && tokenFile != nil {
            throw ValidationError("Give one of --password-file and --token-file, not both.")
        }
    }

    func credentials(
        of user: String, _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> Credentials {
        if let passwordFile { return .basic(user: user, password: try SecretFile.read(passwordFile)) }
        if let tokenFile { return .bearer(try SecretFile.read(tokenFile)) }
        if let token = environment["RETRIEVAL_TOKEN"], !token.isEmpty { return .bearer(token) }
        throw CommandFailure(
            .configuration, "There are no credentials of \(user.printable).",
            hint: "Name a file by --password-file or --token-file, or set RETRIEVAL_TOKEN (securepush token makes one)."
        )
    }
}
