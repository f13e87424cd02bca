import Foundation

/// Where a listing goes on: the sequence of the last registration given.
enum ContinuationToken {
    /// As the service writes it: base64, and already percent-encoded, because clients paste it into a URL.
    static func make(after sequence: Int) -> String {
        Data("\(sequence);hub".utf8).base64EncodedString().replacing("=", with: "%3D")
    }

    /// Reads a token back, escaped any number of times.
    static func read(_ token: String) throws(HubError) -> Int {
        guard let data = Data(base64Encoded: PercentDecoding.decodeRepeatedly(token)),
            let sequence = String(decoding: data, as: UTF8.self).split(separator: ";").first.flatMap({ Int($0) })
        else { throw HubError.badRequest("The continuation token is not valid.") }
        return sequence
    }
}
