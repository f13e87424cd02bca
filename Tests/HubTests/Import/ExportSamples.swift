/// Lines of exports, as export jobs of Azure Notification Hubs write them (azure-notificationhubs-dotnet, issue 322).
enum TestExport {
    static let never = "9999-12-31T23:59:59.9999999Z"

    /// - Parameters:
    ///   - type: such as `Apple`, `FcmV1Template`.
    ///   - fields: the elements after the tags.
    static func line(
        _ type: String, id: String, tags: String = "", expires: String = never, _ fields: String
    ) -> String {
        "<RegistrationDescription xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
            + "i:type=\"\(type)RegistrationDescription\" "
            + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\"><ETag>1</ETag>"
            + "<ExpirationTime>\(expires)</ExpirationTime><RegistrationId>\(id)</RegistrationId>"
            + (tags.isEmpty ? "" : "<Tags>\(tags)</Tags>") + fields + "</RegistrationDescription>"
    }

    static func phone(_ id: String, tags: String = "username:alice", token: String = "00fc") -> String {
        line("Apple", id: id, tags: tags, "<DeviceToken>\(token)</DeviceToken>")
    }

    static func template(_ id: String, name: String, tags: String = "", token: String = "00fc") -> String {
        line(
            "AppleTemplate", id: id, tags: tags,
            "<DeviceToken>\(token)</DeviceToken><BodyTemplate><![CDATA[{\"aps\":\"$(x)\"}]]></BodyTemplate>"
                + "<TemplateName>\(name)</TemplateName>")
    }

    /// The tags of a part of an installation.
    static func tags(_ installation: String, user: String, _ others: String = "") -> String {
        "$InstallationId:{\(installation)},$UserId:{\(user)}" + (others.isEmpty ? "" : ",\(others)")
    }
}
