import Foundation
import Testing

#if os(Linux)
/// Prints the counts that the child process of an exit test has printed, and its complaints.
func show(_ result: ExitTest.Result?) {
    guard let result else { return }
    for content in [result.standardOutputContent, result.standardErrorContent] where !content.isEmpty {
        print(String(decoding: content, as: UTF8.self))
    }
}
#endif
