import HTTPTypes

/// The headers of a send that the hub hands on to the platform's push service, and so to the device.
enum PassThroughHeaders {
    private static let names: Set<String> = [
        "content-type", "x-windowsphone-target", "x-notificationclass", "x-baidu-message-type",
        "servicebusnotification-apns-expiry",
    ]
    private static let prefixes = ["apns-", "x-apns-", "x-wns-"]

    static func select(from headers: HTTPFields) -> [String: String] {
        var selected: [String: String] = [:]
        for field in headers {
            let name = field.name.canonicalName
            if names.contains(name) || prefixes.contains(where: name.hasPrefix) {
                selected[field.name.rawName] = field.value
            }
        }
        return selected
    }
}
