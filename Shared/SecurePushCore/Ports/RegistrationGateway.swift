/// Registers devices with the hub.
public protocol RegistrationGateway: Sendable {
    /// Asks the hub for a new registration ID.
    func createRegistrationID() async throws -> String

    /// Creates or overwrites a registration with exactly these tags.
    ///
    /// - Throws: ``PushGatewayError``; with code `gone` when the hub has given up that ID.
    func putRegistration(_ id: String, platform: RegistrationPlatform, handle: String, tags: [String]) async throws

    /// All registrations of a handle, those that stand for installations included.
    func registrations(handle: String) async throws -> [HubRegistration]

    /// Deletes a registration; one that is not there is deleted already.
    func deleteRegistration(_ id: String) async throws
}
