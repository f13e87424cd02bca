import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Ingest

@Suite("Display, Answers and Challenge")
struct AnswersReadingTests {
    private static func read(_ more: String) throws -> CreateNotificationRequest {
        try CreateNotificationRequestTests.read(#"{"Recipients":["a","b"],"Payload":1\#(more)}"#)
    }

    @Test func `Every notification of the request has them`() throws {
        let request = try Self.read(
            #","Display":"app","Answers":["approve","a-1","0"],"Challenge":"0aZ9""#)
        #expect(request.display == .app && request.answers == ["approve", "a-1", "0"] && request.challenge == "0aZ9")
        let notifications = request.notifications(
            sender: "clinic", retention: .seconds(60), now: CreateNotificationRequestTests.now, traceparent: nil)
        #expect(notifications.map(\.display) == [.app, .app])
    }

    @Test(arguments: ["", #","Display":null,"Answers":null,"Challenge":null"#, #","Display":"full""#])
    func `Without the members there is nothing of it`(_ more: String) throws {
        let request = try Self.read(more)
        #expect(request.display == .full && request.answers.isEmpty && request.challenge == nil)
    }

    @Test(arguments: [
        (#""Display":"none""#, "/Display"), (#""Display":"Full""#, "/Display"), (#""Display":1"#, "/Display"),
        (#""Answers":[]"#, "/Answers"), (#""Answers":["1","2","3","4","5","6"]"#, "/Answers"),
        (#""Answers":"approve""#, "/Answers"), (#""Answers":["ok","ok"]"#, "/Answers/1"),
        (#""Answers":["OK"]"#, "/Answers/0"), (#""Answers":[""]"#, "/Answers/0"), (#""Answers":["a b"]"#, "/Answers/0"),
        (#""Answers":["\#(String(repeating: "a", count: 33))"]"#, "/Answers/0"), (#""Answers":[null]"#, "/Answers/0"),
        (#""Challenge":"42""#, "/Challenge"), (#""Answers":["ok"],"Challenge":"""#, "/Challenge"),
        (#""Answers":["ok"],"Challenge":42"#, "/Challenge"), (#""Answers":["ok"],"Challenge":"4-2""#, "/Challenge"),
        (#""Answers":["ok"],"Challenge":"é""#, "/Challenge"),
        (#""Answers":["ok"],"Challenge":"12345678901234567""#, "/Challenge"),
    ])
    func `Impossible values are named`(_ more: String, _ pointer: String) {
        let issues = CreateNotificationRequestTests.issues(#"{"Recipient":"a","Payload":1,\#(more)}"#)
        #expect(issues?.keys.sorted() == [pointer])
    }

    @Test func `The store gets the question, and no challenge in clear`() async throws {
        try await withIngest { bench in
            let answer = try await bench.post(
                #"{"Recipient":"alice","Payload":1,"Display":"redacted","Answers":["yes","no"],"Challenge":"8642"}"#)
            #expect(answer.status == .created)
            let name = try #require(try answer.object()["Id"] as? String)
            let id = try #require(NotificationID(name))
            let alice = try #require(UserName("alice"))
            #expect(try await bench.store.find(id, recipient: alice)?.display == .redacted)
            let question = try #require(try await bench.store.question(id, recipient: alice)?.question)
            #expect(question.options == ["yes", "no"])
            let challenge = try #require(question.challenge)
            let context = Question.challengeContext(id, recipient: alice)
            #expect(bench.sealer.isFingerprint(challenge, of: Array("8642".utf8), context: context) == true)
            #expect(bench.sealer.isFingerprint(challenge, of: Array("2468".utf8), context: context) == false)
            #expect(!String(decoding: challenge, as: UTF8.self).contains("8642"))
        }
    }
}
