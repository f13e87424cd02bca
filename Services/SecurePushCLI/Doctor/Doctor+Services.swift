extension Doctor {
    /// The services say that they are ready.
    func services() async -> [Finding] {
        var findings: [Finding] = []
        for (part, service) in [
            ("INGEST_URL", "ingest"), ("RETRIEVAL_URL", "retrieval"), ("HUB_EMULATOR_URL", "hub-emulator"),
        ] {
            guard let url = settings[part] else { continue }
            findings.append(await Doctor.readiness(part, service, url))
        }
        return findings
    }

    private static func readiness(_ part: String, _ service: String, _ url: String) async -> Finding {
        do {
            let client = try APIClient(service: service, url: url, timeout: .seconds(5))
            let answer = try await client.send(.get, "/readyz")
            if answer.isSuccess { return .ok(part, "\(service) is ready: \(answer.body.droppingLineEnd)") }
            return .faulty(
                part, "\(service) is not ready (\(answer.status)): \(answer.body.droppingLineEnd)",
                "The answer names the part that fails; look at that one.")
        } catch {
            let failure = CommandFailure(describing: error)
            let advice = "Is \(service) running there?"
            return failure.code == .unreachable
                ? .unreachable(part, failure.message, advice) : .faulty(part, failure.message, "Correct \(part).")
        }
    }
}
