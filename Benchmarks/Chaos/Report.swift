import Foundation

/// What is told while a run lasts: on standard error, so that standard output holds the verdict alone.
enum Report {
    static func line(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
