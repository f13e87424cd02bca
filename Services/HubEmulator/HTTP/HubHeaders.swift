import HTTPTypes

/// The header names and values of the hub's REST API.
enum HubHeaders {
    static let xmlContentType = "application/xml; charset=utf-8"

    static let format = name("ServiceBusNotification-Format")
    static let tags = name("ServiceBusNotification-Tags")
    static let deviceHandle = name("ServiceBusNotification-DeviceHandle")
    static let scheduleTime = name("ServiceBusNotification-ScheduleTime")
    static let requestID = name("X-Request-Id")
    static let trackingID = name("TrackingId")
    static let correlationID = name("x-ms-correlation-request-id")
    static let windowsType = name("X-WNS-Type")
    static let applePushType = name("apns-push-type")
    static let xApplePushType = name("x-apns-push-type")
    static let continuationToken = name("x-ms-continuationtoken")

    /// A field name from a literal; the fallback is never used with the valid names above.
    static func name(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .server }
}
