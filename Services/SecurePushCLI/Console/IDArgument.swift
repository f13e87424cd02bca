import ArgumentParser
import SecurePushCore

/// A notification's ID on the command line.
struct IDArgument: ExpressibleByArgument, Sendable, Hashable {
    var id: NotificationID

    init?(argument: String) {
        guard let id = NotificationID(argument) else { return nil }
        self.id = id
    }
}
