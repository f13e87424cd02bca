import ArgumentParser
package import Domain
import Foundations
import ServiceConfiguration
import ServiceRuntime

extension Presentation: ExpressibleByArgument {}
extension Priority: ExpressibleByArgument {}
extension NotificationStatus: ExpressibleByArgument {}

extension CompletionKind {
    static let platforms = CompletionKind.list(Platform.known.map(\.rawValue))
}

struct IDArgument: ExpressibleByArgument, Sendable, Hashable {
    var id: NotificationID

    /// For help texts, which the message about a wrong ID repeats.
    static let example = "01890a5d-ac96-774b-bcce-b302099a8057"

    init?(argument: String) {
        guard let id = NotificationID(argument) else { return nil }
        self.id = id
    }
}

/// A time in RFC 3339: `2026-11-21T08:30:00Z`.
struct TimeArgument: ExpressibleByArgument, Sendable, Equatable {
    var time: Timestamp

    init?(argument: String) {
        guard let time = Timestamp(rfc3339: argument) else { return nil }
        self.time = time
    }
}

/// A duration in the form of the services' settings: `90s`, `15m`, `2h`, `30d`.
struct DurationArgument: ExpressibleByArgument, Sendable, Equatable {
    var duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        // Times further away than a hundred years could overflow.
        guard let duration = Duration(configurationText: argument), duration <= .seconds(36_500 * 86_400) else {
            return nil
        }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.configurationText }
}

/// A time in RFC 3339, or a duration from now.
struct FutureArgument: ExpressibleByArgument, Sendable, Equatable {
    /// `nil` if a duration was given.
    let time: Timestamp?
    private let delay: Duration

    init?(argument: String) {
        time = TimeArgument(argument: argument)?.time
        guard let delay = time == nil ? DurationArgument(argument: argument)?.duration : .zero else { return nil }
        self.delay = delay
    }

    func time(_ now: Timestamp) -> Timestamp { time ?? now + delay }
}

/// A time in RFC 3339, or a duration before now.
struct SinceArgument: ExpressibleByArgument, Sendable, Equatable {
    private enum Value: Equatable { case time(Timestamp), ago(Duration) }

    private let value: Value

    init?(argument: String) {
        if let time = TimeArgument(argument: argument) {
            value = .time(time.time)
        } else if let ago = DurationArgument(argument: argument) {
            value = .ago(ago.duration)
        } else {
            return nil
        }
    }

    func time(_ now: Timestamp) -> Timestamp {
        switch value {
        case .time(let time): time
        case .ago(let duration): now - duration
        }
    }
}

extension UserName {
    /// - Throws: ``CommandFailure`` with code `usage` if the text is not a user's name.
    static func parse(_ text: String, of argument: String = "<name>") throws -> UserName {
        guard let user = UserName(text) else { throw CommandFailure(.usage, rule("user", argument)) }
        return user
    }

    /// - Parameter argument: the option that holds the name.
    /// - Throws: a usage error if the text is not a user's name.
    static func validate(_ text: String, of argument: String, as role: String) throws {
        if UserName(text) == nil { throw ValidationError(rule(role, argument)) }
    }

    private static func rule(_ role: String, _ argument: String) -> String {
        "\(argument): the name of a \(role) must have 1 to 1,024 bytes of UTF-8 and no control characters."
    }
}

/// The path that an option holds, without white space at its ends, as in a setting.
///
/// - Throws: a usage error if a control character is inside, because it is invisible and changes the path.
func filePath(_ text: String) throws -> String {
    let path = OutsideText.trimmed(text)
    if let problem = ConfigurationReader.controlProblem(of: path) { throw ValidationError("it \(problem).") }
    return path
}

/// - Throws: a usage error that names the flag if the duration is outside the range.
func requireRange(_ flag: String, _ value: DurationArgument, _ range: ClosedRange<Duration>) throws {
    guard !range.contains(value.duration) else { return }
    let (least, most) = (range.lowerBound.configurationText, range.upperBound.configurationText)
    throw ValidationError("\(flag) must be between \(least) and \(most).")
}

/// - Throws: a usage error that names the flag if the value is outside the range.
func requireRange(_ flag: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
    guard let value, !range.contains(value) else { return }
    if range.upperBound == .max { throw ValidationError("\(flag) must be at least \(range.lowerBound).") }
    throw ValidationError("\(flag) must be between \(range.lowerBound.grouped) and \(range.upperBound.grouped).")
}
