import ArgumentParser
import Foundation

struct DoctorCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check every part that there are settings for, and say what to do.",
        discussion: """
            Looks at the services' own settings in the environment: DATABASE_URL, AMQP_URL, HUB_CONNECTION_STRING or its
            file, the files of keys, users and certificates, AUTH_JWKS_URL, INGEST_URL, RETRIEVAL_URL and
            HUB_EMULATOR_URL. Each fault comes with what to do about it. Nothing is changed. Exit codes: 0 all well, 1
            something is wrong, 69 something does not answer, 78 there are no settings at all.

            EXAMPLES
              DATABASE_URL=sqlite:./data.sqlite AMQP_URL=amqp://127.0.0.1 securepush doctor
              securepush doctor --json | jq 'select(.State != "ok")'
              docker compose run --rm cli doctor
            """)

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(on console: Console) async throws {
        let findings = await Doctor(settings: Settings()).examine { finding in
            try? console.show(finding, DoctorCommand.text(finding, on: console))
        }
        guard let code = Finding.exitCode(findings) else { return }
        if code == .configuration {
            throw CommandFailure(
                .configuration, "There are no settings to check.",
                hint: "Set what the services are started with: DATABASE_URL, AMQP_URL, PAYLOAD_KEYS_FILE, ...")
        }
        throw ExitCode(code.rawValue)
    }

    static func text(_ finding: Finding, on console: Console) -> String {
        let mark =
            switch finding.state {
            case .ok: console.styled("ok", .green) + "           "
            case .unreachable: console.styled("unreachable", .red) + "  "
            case .faulty: console.styled("faulty", .yellow) + "       "
            }
        let advice = finding.advice.map { "\n             " + "-> \($0.printable)" } ?? ""
        return mark + "\(finding.part): \(finding.detail.printable)" + advice
    }
}
