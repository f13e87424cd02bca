import ArgumentParser
import Foundation

struct DoctorCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check every configured part of the system, and give advice for each fault.",
        discussion: """
            Checks what the services' settings in the environment name: DATABASE_URL, AMQP_URL, HUB_CONNECTION_STRING \
            or its file, HUB_POOL_FILE, HUB_ACCESS_FILE, PUSH_CREDENTIALS_FILE, the files of keys, users and \
            certificates, AUTH_JWKS_URL, INGEST_URL, INGEST_API_KEY, RETRIEVAL_URL, DISPATCHER_URL (several, separated \
            by commas), HUB_URL and HUB_EMULATOR_URL. It also compares the key ring with the stored payloads, tries \
            the rights of the broker's user, and asks the push services whether the hub's credentials are good. \
            Changes nothing.

            Each line is ok, a warning (it works, but needs attention), failed, or not examined (with the setting that \
            is missing). The last line counts them. Exit codes: 0 nothing failed, 1 something failed, 69 something \
            does not answer, 78 no settings.

            EXAMPLES
              DATABASE_URL=sqlite:./data.sqlite AMQP_URL=amqp://127.0.0.1 securepush doctor
              securepush doctor --json \\
                  | jq 'select(.State == "failed" or .State == "warning")'
              docker compose run --rm cli doctor
            """)

    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run(on console: Console) async throws {
        let doctor = Doctor(settings: Settings())
        let show: (Finding) -> Void = { try? console.show($0, DoctorCommand.text($0, on: console)) }
        let findings = await doctor.examine(show)
        let code = Finding.exitCode(findings)
        if code == .configuration {
            throw CommandFailure(
                .configuration, "There are no settings to check.",
                hint: "Set the same variables as for the services: DATABASE_URL, AMQP_URL, PAYLOAD_KEYS_FILE, ...")
        }
        let unexamined = doctor.unexamined
        unexamined.forEach(show)
        if !console.isJSON { console.message(Finding.summary(findings + unexamined)) }
        if let code { throw code.exitCode }
    }

    /// The state in a column of its own, the finding, and the advice below it.
    static func text(_ finding: Finding, on console: Console) -> String {
        let style: Style =
            switch finding.state {
            case .ok: .green
            case .warning: .yellow
            case .failed: .red
            case .unexamined: .dim
            }
        let word = finding.state.rawValue
        let mark = console.styled(word, style) + String(repeating: " ", count: 14 - word.count)
        if finding.state == .unexamined { return mark + "\(finding.detail): \(finding.advice ?? "")" }
        let advice = finding.advice.map { "\n" + String(repeating: " ", count: 14) + "-> \($0.printable)" } ?? ""
        return mark + "\(finding.part): \(finding.detail.printable)" + advice
    }
}

/// Examines the configured parts of a system one after another.
struct Doctor: Sendable {
    var settings: Settings

    func examine(_ report: (Finding) -> Void) async -> [Finding] {
        var all: [Finding] = []
        for check in [files, certificate, keySet, database, broker, library, hub, services, dispatchers, ownHub] {
            let findings = await check()
            findings.forEach(report)
            all += findings
        }
        return all
    }

    /// The parts that no setting names, in the order in which the others are examined.
    var unexamined: [Finding] {
        Doctor.parts.filter { part in part.keys.allSatisfy { settings[$0] == nil } }.map { part in
            .unexamined(part.keys[0], part.name, "set \(part.keys.joined(separator: " or ")) to examine it")
        }
    }

    /// What can be examined, and the settings that name it.
    static let parts: [(keys: [String], name: String)] = [
        (["PAYLOAD_KEYS_FILE"], "the key ring of the payloads"),
        (["INGEST_API_KEYS_FILE"], "the file of the API keys"),
        (["AUTH_USERS_FILE"], "the file of the users"),
        (["AUTH_TOKEN_SIGNING_KEY_FILE"], "the key that signs the users' tokens"),
        (["AUTH_JWKS_FILE", "AUTH_JWKS_URL"], "the key set that verifies the users' tokens"),
        (["PUSH_SIGNING_KEY_FILE"], "the key that signs pushes"),
        (["PUSH_VERIFICATION_KEYS_FILE"], "the key set that verifies pushes"),
        (["TLS_CERTIFICATE_FILE"], "the TLS certificate of the services"),
        (["DATABASE_URL"], "the database"),
        (["AMQP_URL"], "the broker with its queues"),
        (["HUB_CONNECTION_STRING", "HUB_CONNECTION_STRING_FILE", "HUB_POOL_FILE"], "the hub"),
        (["HUB_ACCESS_FILE"], "the rules of your own hub"),
        (["PUSH_CREDENTIALS_FILE"], "the credentials of your own hub"),
        (["HUB_URL"], "your own hub with its lanes"),
        (["INGEST_URL"], "the ingest service"),
        (["INGEST_API_KEY", "INGEST_API_KEY_FILE"], "the API key of a sender"),
        (["RETRIEVAL_URL"], "the retrieval service"),
        (["HUB_EMULATOR_URL"], "the hub emulator"),
        (["DISPATCHER_URL"], "the dispatcher with its lanes"),
    ]
}
