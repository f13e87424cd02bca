package import Foundations

extension JSONRule<UserName> {
    package static var userName: JSONRule { .string(UserName.requirement) { UserName($0) } }
}

extension JSONRule<NotificationID> {
    package static var notificationID: JSONRule { .string(NotificationID.requirement) { NotificationID($0) } }
}
