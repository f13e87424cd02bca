import Foundation

/// A process that feeds one reader with what libFuzzer makes up: `fuzz READER [libFuzzer's arguments]`.
///
/// libFuzzer watches which branches an input takes and goes on from those that take new ones. Whatever traps, hangs or
/// breaks one of the readers' own promises (a `precondition` in ``FuzzTarget``) is a crash, and its input is kept.
@main
struct Fuzz {
    static func main() {
        guard CommandLine.argc > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
            let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: "\n") + "\n"
            FileHandle.standardOutput.write(Data(names.utf8))
            exit(CommandLine.argc > 1 && CommandLine.arguments[1] == "--list" ? 0 : 64)
        }
        setenv("FUZZ_READER", target.rawValue, 1)
        // The reader's name is not for libFuzzer: the program's name takes its place.
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
        CommandLine.unsafeArgv[1] = CommandLine.unsafeArgv[0]
        var count = CommandLine.argc - 1
        exit(runDriver(&count, &arguments) { bytes, count in runOne(bytes, count) })
    }
}

/// libFuzzer's loop (`FuzzerDriver.cpp`).
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Looked for by libFuzzer's own `main`, which is linked in and not used.
@_cdecl("LLVMFuzzerTestOneInput")
func runOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

private let chosen = FuzzTarget(rawValue: String(cString: getenv("FUZZ_READER"))) ?? .tags
