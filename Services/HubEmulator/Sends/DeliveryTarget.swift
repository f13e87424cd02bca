/// One device that a send goes to, and what it gets.
struct DeliveryTarget: Sendable {
    let handle: String
    let format: NotificationFormat
    let body: [UInt8]

    /// The devices of these registrations; a device that is registered twice gets one push, as the service does.
    static func all(_ registrations: [Registration], body: [UInt8]) -> [DeliveryTarget] {
        var seen: Set<String> = []
        return registrations.compactMap { registration in
            // Two templates of one device are two notifications; two native registrations are one.
            guard registration.isTemplate || registrations.count == 1 || seen.insert(registration.handle).inserted
            else { return nil }
            let body = registration.isTemplate ? TemplateBody.render(registration, properties: body) : body
            return DeliveryTarget(handle: registration.handle, format: registration.format, body: body)
        }
    }
}
