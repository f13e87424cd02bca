/// The headers of a send that the hub hands on to the platform's push service, and so to the device.
enum PassThroughHeaders {
    private static let names: Set<String> = [
        "content-type", "x-windowsphone-target", "x-notificationclass", "x-baidu-message-type",
        "servicebusnotification-apns-expiry",
    ]
    private static let prefixes = ["apns-", "x-apns-", "x-wns-"]

    static func select(from headers: PackedHeaders) -> [String: String] {
        var selected: [String: String] = [:]
        headers.forEach { rawName, value in
            let name = rawName.lowercased()
            if names.contains(name) || prefixes.contains(where: name.hasPrefix) { selected[rawName] = value }
        }
        return selected
    }
}
