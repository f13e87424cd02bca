/// One device that a send goes to, and what it gets.
struct DeliveryTarget: Sendable {
    let handle: String
    let format: NotificationFormat
    let body: [UInt8]
    /// The headers that a template brings along; nil: those of the request are handed on.
    var headers: [String: String]?
    /// Nil for a direct send.
    var registrationID: String?
    /// What becomes of it before anything is delivered: success when it may be.
    var outcome = DeliveryOutcome.success

    /// The devices of these registrations; of several native registrations of a device all but the first are skipped.
    static func all(_ registrations: [Registration], body: [UInt8]) throws(HubError) -> [DeliveryTarget] {
        guard let first = registrations.first else { return [] }
        if registrations.count == 1, !first.isTemplate { return [native(first, body)] }
        let properties = registrations.contains(where: \.isTemplate) ? try TemplateProperties(message: body) : nil
        var seen: Set<String> = []
        return registrations.map { registration in
            if let properties, registration.isTemplate { return template(registration, properties) }
            var target = native(registration, body)
            if !seen.insert(registration.handle).inserted { target.outcome = .skipped }
            return target
        }
    }

    private static func native(_ registration: Registration, _ body: [UInt8]) -> DeliveryTarget {
        DeliveryTarget(
            handle: registration.handle, format: registration.format, body: body, registrationID: registration.id)
    }

    /// Two templates of one device are two notifications.
    private static func template(
        _ registration: Registration, _ properties: TemplateProperties
    ) -> DeliveryTarget {
        let renderer = TemplateRenderer(registration, properties)
        return DeliveryTarget(
            handle: registration.handle, format: registration.format, body: Array(renderer.body.utf8),
            headers: renderer.headers, registrationID: registration.id)
    }
}
