import Domain
import Foundations
import Testing

struct ErrorTests {
    @Test func `Errors say their kind and their message`() {
        #expect("\(StorageError(.connectionLost, "x y"))" == "storage connectionLost: x y")
        #expect("\(MessagingError(.nacked, "x"))" == "messaging nacked: x")
        #expect("\(PushGatewayError(.gone, "x"))" == "hub gone: x")
        #expect("\(AuthenticationError(.throttled, "x"))" == "authentication throttled: x")
        #expect("\(PayloadError(.unknownKey, "x"))" == "payload unknownKey: x")
        #expect("\(FileError(.missing, path: "/a", "There is no such file."))" == "/a: There is no such file.")
        #expect(StorageError(.timeout, "x") == StorageError(.timeout, "x"))
        #expect(StorageError(.timeout, "x") != StorageError(.timeout, "y"))
    }
}
