import SecurePushCore

/// Stands where no hub is configured: devices cannot register here, and are told so.
struct NoHub: RegistrationGateway, InstallationGateway {
    private var error: PushGatewayError { PushGatewayError(.unavailable, "no hub is configured") }

    func createRegistrationID() async throws -> String { throw error }
    func putRegistration(
        _ id: String, platform: RegistrationPlatform, handle: String, tags: [String]
    ) async throws { throw error }
    func registrations(handle: String) async throws -> [HubRegistration] { throw error }
    func deleteRegistration(_ id: String) async throws { throw error }
    func putInstallation(_ id: String, document: [UInt8]) async throws { throw error }
    func deleteInstallation(_ id: String) async throws { throw error }
}
