import Foundation
import StackKit
import Testing

/// The push services of the tests must not be written to our taste, so senders of other people try them too: pywebpush,
/// aioapns, google-auth, firebase-admin, django-push-notifications and msal.
@Suite(.serialized, .timeLimit(.minutes(15))) struct FakePushServiceTests {
    @Test(arguments: FakePushService.Kind.allCases)
    func `A push service agrees with the senders of other people`(kind: FakePushService.Kind) async throws {
        let script = Scripts.ofThisCheckout.folder.appending(path: "push-services.sh").path
        // The first run gets their packages from PyPI.
        let output = try await run("/bin/bash", [script, "check", kind.rawValue], within: .seconds(300))
        #expect(output.contains("and the push service agree"), "\(output)")
    }
}
