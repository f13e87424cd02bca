import SecurePushCore

/// The Atom entry that describes a registration to the hub (Azure: "Create a registration").
enum RegistrationDocument {
    static let contentType = "application/atom+xml;type=entry;charset=utf-8"

    /// - Throws: code `rejected` for a handle or tag that the document cannot carry as it is. A comma would make one
    ///   tag into two, of which the second could be another user's.
    static func entry(
        platform: RegistrationPlatform, handle: String, tags: [String]
    ) throws(PushGatewayError) -> String {
        guard let handle = XMLText.encode(handle) else {
            throw PushGatewayError(.rejected, "the handle holds a control character")
        }
        let (description, field) = platform.elements
        var xml = "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\"><\(description)"
        xml += " xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\""
        xml += " xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\">"
        if !tags.isEmpty {
            xml += "<Tags>"
            for (position, tag) in tags.enumerated() {
                guard !tag.isEmpty, !tag.utf8.contains(UInt8(ascii: ",")), let tag = XMLText.encode(tag) else {
                    throw PushGatewayError(.rejected, "a tag is empty or holds a comma or a control character")
                }
                xml += position == 0 ? tag : "," + tag
            }
            xml += "</Tags>"
        }
        xml += "<\(field)>\(handle)</\(field)></\(description)></content></entry>"
        return xml
    }
}

extension RegistrationPlatform {
    /// The names of the description's element and of the handle's element in it.
    fileprivate var elements: (description: String, handle: String) {
        switch self {
        case .apns: ("AppleRegistrationDescription", "DeviceToken")
        case .fcmv1: ("FcmV1RegistrationDescription", "FcmV1RegistrationId")
        case .gcm: ("GcmRegistrationDescription", "GcmRegistrationId")
        case .wns: ("WindowsRegistrationDescription", "ChannelUri")
        }
    }
}
