import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Failure: Error, CustomStringConvertible {
    var description: String
}

struct Problem: Decodable {
    struct Issue: Decodable {
        var pointer: String
        var detail: String
    }
    var title: String?
    var detail: String?
    var errors: [Issue]?
}

func send(_ payload: [String: Any], to recipient: String, key: String) async throws -> String {
    let environment = ProcessInfo.processInfo.environment
    guard let base = environment["INGEST_URL"], let url = URL(string: base + "/api/notifications") else {
        throw Failure(description: "INGEST_URL is not set")
    }
    var request = URLRequest(url: url, timeoutInterval: 10)
    request.httpMethod = "POST"
    request.setValue("Bearer \(environment["INGEST_API_KEY"] ?? "")", forHTTPHeaderField: "Authorization")
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue(key, forHTTPHeaderField: "Idempotency-Key")
    request.httpBody = try JSONSerialization.data(withJSONObject: ["Recipient": recipient, "Payload": payload])
    var attempt = 1
    while true {
        var wait = Double(attempt)
        do {
            let (data, response) = try await URLSession.shared.data(for: request)
            guard let answer = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            if answer.statusCode == 201 {
                let members = try JSONSerialization.jsonObject(with: data) as? [String: Any]
                return members?["Id"] as? String ?? ""
            }
            if ![409, 429, 502, 503, 504].contains(answer.statusCode) || attempt == 5 {
                throw Failure(description: describe(answer.statusCode, data))
            }
            wait = answer.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init) ?? wait
        } catch let error as URLError where attempt < 5 {
            print("ingest does not answer: \(error.localizedDescription)")
        }
        attempt += 1
        try await Task.sleep(nanoseconds: UInt64(wait * 1e9))
    }
}

func describe(_ status: Int, _ data: Data) -> String {
    guard let problem = try? JSONDecoder().decode(Problem.self, from: data) else { return "ingest answered \(status)" }
    let issues = (problem.errors ?? []).map { "\($0.pointer): \($0.detail)" }
    return (["\(status) \(problem.title ?? ""): \(problem.detail ?? "")"] + issues).joined(separator: "\n")
}

do {
    print(try await send(["Order": 1093, "State": "shipped"], to: "alice", key: "order-1093-swift"))
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
