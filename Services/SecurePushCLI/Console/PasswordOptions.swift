import ArgumentParser

/// Where a password comes from: a file, or standard input; never a flag's value.
struct PasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A file with the password (else standard input).", valueName: "file"))
    var passwordFile: String?

    func password(of user: String) throws -> String {
        if let passwordFile { return try SecretFile.read(passwordFile) }
        return try StandardInput.readPassword(prompt: "Password of \(user.printable): ")
    }
}
