import Foundations
import PushServices
import Storage

extension PushLanes {
    /// Refuses devices with an address to which this hub may not push, or for which it cannot encrypt (K5).
    ///
    /// - Throws: 400.
    func checkAddresses(of registrations: [RegistrationEntry], hub hubKey: String) throws(HubError) {
        for registration in registrations {
            if let problem = problem(of: registration.address, hubKey, registration.format) {
                throw HubError.badRequest(problem)
            }
        }
    }

    func checkAddresses(of installation: HubInstallation, hub hubKey: String) throws(HubError) {
        let registrations = installation.registrations(at: .now).compactMap { RegistrationEntry($0) }
        try checkAddresses(of: registrations, hub: hubKey)
    }
}

extension RegistrationEntry {
    var address: PushAddress {
        guard format == .browser else { return .handle(handle) }
        return .subscription(endpoint: handle, p256dh: field("P256DH") ?? "", auth: field("Auth") ?? "")
    }
}

extension PushLanes {
    /// Why no device may be registered with an address; `nil` if one may.
    fileprivate func problem(of address: PushAddress, _ hubKey: String, _ platform: NotificationFormat) -> String? {
        guard case .connector(let connector, _) = pusher(hubKey, platform), !address.isOfTrial || !isTrial(hubKey)
        else { return nil }
        return connector.problem(of: address)
    }

    /// Whether the device of a registration is simulated.
    func isSimulated(_ registration: RegistrationEntry, hub hubKey: String) -> Bool {
        isSimulated(hubKey, registration.format) || registration.address.isOfTrial && isTrial(hubKey)
    }
}

extension PushAddress {
    /// Whether it is the address of a page that listens to the hub in place of a push service, as the example web app
    /// does where its browser reaches none. No name below `.invalid` exists (RFC 2606, section 2).
    var isOfTrial: Bool {
        guard case .subscription(let endpoint, _, _) = self else { return false }
        return Self.isOfTrial(endpoint: endpoint)
    }

    fileprivate static func isOfTrial(endpoint: String) -> Bool {
        endpoint.utf8.starts(with: "https://emulator.invalid/".utf8)
    }
}

extension RecordedRequest {
    /// Whether it is about pages that listen to the hub in place of a push service, and about no other device.
    var isOfTrial: Bool {
        !results.isEmpty && results.count == outcomeCounts.values.reduce(0, +)
            && results.allSatisfy { PushAddress.isOfTrial(endpoint: $0.handle) }
    }
}
