import Authentication

extension Doctor {
    /// The key set of `AUTH_JWKS_URL` can be fetched and is one.
    func keySet() async -> [Finding] {
        let part = "AUTH_JWKS_URL"
        guard let url = settings[part] else { return [] }
        do {
            let client = try APIClient(service: "the identity provider", url: url, timeout: .seconds(5))
            let answer = try await client.send(.get, "")
            guard answer.isSuccess, JSONText.member("keys", of: answer.body) != nil else {
                return [
                    .faulty(
                        part, "\(url) answers \(answer.status) and no JSON Web Key Set",
                        "Correct \(part): it is the provider's jwks_uri.")
                ]
            }
            return [.ok(part, "\(url) gives a key set")]
        } catch {
            let failure = CommandFailure(describing: error)
            let advice = "Can the provider be reached from here? Tokens signed with keys not seen before are refused."
            return failure.code == .unreachable
                ? [.unreachable(part, failure.message, advice)] : [.faulty(part, failure.message, "Correct \(part).")]
        }
    }

    /// Reads a key set as the services do, which refuse one without a usable key.
    static func readKeySet(_ path: String) throws -> String {
        _ = try UserAuthenticator(
            configuration: UserAuthenticationConfiguration(jwksFile: path), logger: StoreSession.logger)
        return "readable"
    }
}
