import Foundation

/// Reads the entitlements in the code signature of a program. iOS has no call for that, and the profile that is embedded
/// in builds for tests is missing in those of the App Store.
///
/// The form is that of `<mach-o/loader.h>` and of xnu's `cs_blobs.h`: the signature is a block of numbers with the most
/// significant byte first, and has a property list with the entitlements.
struct CodeSignature {
    private let program: Data

    /// Takes the bytes of a program.
    init(of program: Data) { self.program = program }

    /// Whether the program has an entitlement with the value `true`; `false` if that cannot be read.
    func has(_ entitlement: String) -> Bool {
        guard let list = signature().flatMap(entitlements(in:)),
            let values = try? PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Any]
        else { return false }
        return values[entitlement] as? Bool ?? false
    }

    /// The range of the signature in a program for one kind of processor, which is all that a device gets.
    private func signature() -> Range<Int>? {
        guard little(0) == Self.machO64, let count = little(16), count <= Self.maxCommands else { return nil }
        var offset = Self.headerSize
        for _ in 0..<count {
            guard let command = little(offset), let size = little(offset + 4), size >= 8 else { return nil }
            if command == Self.signatureCommand, let start = little(offset + 8), let length = little(offset + 12) {
                return range(start, length)
            }
            offset += size
        }
        return nil
    }

    private func entitlements(in signature: Range<Int>) -> Data? {
        let start = signature.lowerBound
        guard big(start) == Self.superBlob, let count = big(start + 8), count <= Self.maxCommands else { return nil }
        for index in 0..<count {
            let entry = start + 12 + 8 * index
            guard big(entry) == Self.entitlementsSlot else { continue }
            guard let offset = big(entry + 4), offset <= signature.count else { return nil }
            let blob = start + offset
            guard big(blob) == Self.entitlementsBlob, let length = big(blob + 4), length > 8,
                let content = range(blob + 8, length - 8)
            else { return nil }
            return program.dropFirst(content.lowerBound).prefix(content.count)
        }
        return nil
    }

    /// A range that lies in the program; all numbers come from 32 bits, so that sums do not overflow.
    private func range(_ start: Int, _ length: Int) -> Range<Int>? {
        start + length <= program.count ? start..<start + length : nil
    }

    private func little(_ offset: Int) -> Int? { number(offset) { $0 | $1 << (8 * $2) } }

    private func big(_ offset: Int) -> Int? { number(offset) { $0 | $1 << (8 * (3 - $2)) } }

    private func number(_ offset: Int, _ add: (Int, Int, Int) -> Int) -> Int? {
        guard let range = range(offset, 4) else { return nil }
        return range.reduce(0) { add($0, Int(program[program.startIndex + $1]), $1 - offset) }
    }

    private static let machO64 = 0xFEED_FACF
    private static let headerSize = 32
    private static let signatureCommand = 0x1D
    private static let superBlob = 0xFADE_0CC0
    private static let entitlementsBlob = 0xFADE_7171
    private static let entitlementsSlot = 5
    /// More than any program has.
    private static let maxCommands = 10_000
}

/// Whether a service extension can suppress an alert: Apple gives the entitlement on request.
enum AlertFiltering {
    static let entitlement = "com.apple.developer.usernotifications.filtering"

    /// Whether this process has the entitlement. The program is mapped, not read.
    static let isAllowed: Bool = {
        guard let url = Bundle.main.executableURL, let program = try? Data(contentsOf: url, options: .alwaysMapped)
        else { return false }
        return CodeSignature(of: program).has(entitlement)
    }()
}
