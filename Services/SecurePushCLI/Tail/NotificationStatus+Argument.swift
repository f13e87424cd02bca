public import ArgumentParser
public import SecurePushCore

extension NotificationStatus: ExpressibleByArgument {}
