import ArgumentParser
import Foundation

struct DoctorCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check every configured part of the system, and give advice for each fault.",
        discussion: """
            Checks what the services' settings in the environment name: DATABASE_URL, AMQP_URL, HUB_CONNECTION_STRING or
            its file, the files of keys, users and certificates, AUTH_JWKS_URL, INGEST_URL, RETRIEVAL_URL and
            HUB_EMULATOR_URL. Changes nothing. Exit codes: 0 no faults, 1 some faults, 69 something does not answer, 78
            no settings.

            EXAMPLES
              DATABASE_URL=sqlite:./data.sqlite AMQP_URL=amqp://127.0.0.1 securepush doctor
              securepush doctor --json | jq 'select(.State != "ok")'
              docker compose run --rm cli doctor
            """)

    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run(on console: Console) async throws {
        let findings = await Doctor(settings: Settings()).examine { finding in
            try? console.show(finding, DoctorCommand.text(finding, on: console))
        }
        guard let code = Finding.exitCode(findings) else { return }
        if code == .configuration {
            throw CommandFailure(
                .configuration, "There are no settings to check.",
                hint: "Set the same variables as for the services: DATABASE_URL, AMQP_URL, PAYLOAD_KEYS_FILE, ...")
        }
        throw ExitCode(code.rawValue)
    }

    private static func text(_ finding: Finding, on console: Console) -> String {
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

/// Examines the configured parts of a system one after another.
struct Doctor: Sendable {
    var settings: Settings

    func examine(_ report: (Finding) -> Void) async -> [Finding] {
        var all: [Finding] = []
        for check in [files, certificate, keySet, database, broker, library, hub, services] {
            let findings = await check()
            findings.forEach(report)
            all += findings
        }
        return all
    }
}

/// The result for one part.
struct Finding: Encodable, Sendable, Equatable {
    enum State: String, Encodable, Sendable {
        case ok
        /// It does not answer.
        case unreachable
        /// It exists, but something is wrong.
        case faulty
    }

    var part: String
    var state: State
    var detail: String
    /// How to correct the fault.
    var advice: String?

    static func ok(_ part: String, _ detail: String) -> Finding { Finding(part: part, state: .ok, detail: detail) }

    static func faulty(_ part: String, _ detail: String, _ advice: String) -> Finding {
        Finding(part: part, state: .faulty, detail: detail, advice: advice)
    }

    static func unreachable(_ part: String, _ detail: String, _ advice: String) -> Finding {
        Finding(part: part, state: .unreachable, detail: detail, advice: advice)
    }

    private enum CodingKeys: String, CodingKey {
        case part = "Part", state = "State", detail = "Detail", advice = "Advice"
    }

    /// The exit code for all findings. Unreachable parts come first because they can hide other faults.
    static func exitCode(_ findings: [Finding]) -> CommandFailure.Code? {
        if findings.isEmpty { return .configuration }
        if findings.contains(where: { $0.state == .unreachable }) { return .unreachable }
        return findings.contains { $0.state == .faulty } ? .failed : nil
    }
}
