/// What a simulated device got when it fetched a payload.
enum LoadReading: Sendable, Equatable {
    /// The payload as it was sent, for the first time.
    case read
    /// The payload, which this device has had before: its push came twice.
    case repeated
    /// Something of another test or sender.
    case foreign
    case failed(String)

    private struct Answer: Decodable {
        var Payload: String
        var Read: Bool
    }

    init(_ result: Result<APIAnswer, any Error>, payload: String) {
        switch result {
        case .failure(let error): self = .failed(CommandFailure(describing: error).message)
        case .success(let answer) where answer.status != 200: self = .failed("\(answer.status)")
        case .success(let answer):
            guard let read = try? JSONText.decode(Answer.self, from: answer.body) else {
                self = .foreign
                return
            }
            self = read.Payload != payload ? .foreign : read.Read ? .repeated : .read
        }
    }
}

extension ReadFigures {
    /// - Parameter latency: since the notification was accepted, by the time in its ID.
    mutating func note(_ reading: LoadReading, latency passed: Duration) {
        switch reading {
        case .read: latency.record(passed.microseconds)
        case .repeated: repeated += 1
        case .foreign: break
        case .failed(let reason): failures[reason, default: 0] += 1
        }
    }
}
