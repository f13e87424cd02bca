import Domain
import SecurePushClient
import Testing

@testable import SecurePushCLI

@Suite struct NativePushTests {
    private static let id = "01997b2c-0000-7000-8000-00000000002a"

    @Test(arguments: [
        (DevicePlatform.apple, #"{"aps":{"content-available":1},"secureId":"ID"}"#, "silent push"),
        (.apple, #"{"aps":{"alert":{"title":"T"},"mutable-content":1},"secureId":"ID"}"#, "alert push"),
        (.apple, #"{"aps":{"content-available":1},"secureId":"ID","withdraw":"1"}"#, "withdrawal"),
        (.fcmv1, #"{"message":{"data":{"secureId":"ID"},"android":{"priority":"high"}}}"#, "data message"),
        (.fcmv1, #"{"data":{"secureId":"ID","ts":"1","sig":"x"}}"#, "data message"),
        (.fcmv1, #"{"message":{"data":{"secureId":"ID","withdraw":"1"}}}"#, "withdrawal"),
        (.windows, "ID", "raw notification"), (.windows, "ID 1763800000 c2ln", "raw notification"),
        (.windows, "ID withdraw", "withdrawal"),
    ])
    func `The ID of each native form`(platform: DevicePlatform, body: String, kind: String) throws {
        let body = body.split(separator: "ID", omittingEmptySubsequences: false).joined(separator: Self.id)
        let push = NativePush(platform: platform, body: body)
        #expect(push.push.id?.rawValue == Self.id)
        #expect(push.push.isWithdrawal == (kind == "withdrawal"))
        #expect(push.kind == kind)
        #expect(push.isForExtension == (kind == "alert push"))
    }

    @Test(arguments: [
        (DevicePlatform.apple, "{}"), (.apple, ""), (.apple, #"{"secureId":7}"#), (.apple, #"{"secureId":"a/b"}"#),
        (.apple, "[]"), (.fcmv1, #"{"secureId":"01997b2c-0000-7000-8000-00000000002a"}"#), (.windows, ""),
        (.windows, "../../admin"),
    ])
    func `What holds no ID is none`(platform: DevicePlatform, body: String) {
        #expect(NativePush(platform: platform, body: body).push.id == nil)
    }

    @Test func `Handles have the form of their platform, and no two are the same`() {
        #expect(DevicePlatform.apple.makeHandle().utf8.count == 64)
        #expect(DevicePlatform.windows.makeHandle().hasPrefix("https://db5.notify.windows.com/?token="))
        #expect(DevicePlatform.fcmv1.makeHandle() != DevicePlatform.fcmv1.makeHandle())
    }

    @Test func `The emulator's event`() {
        let data = #"{"Platform":"windows","Body":"a\"b","Headers":{"Body":"no"}}"#
        #expect(PushEvent.body(of: .init(name: "notification", data: data)) == "a\"b")
        #expect(PushEvent.body(of: .init(name: "device", data: data)) == nil)
        #expect(PushEvent.body(of: .init(name: "notification", data: "{}")) == nil)
    }
}
