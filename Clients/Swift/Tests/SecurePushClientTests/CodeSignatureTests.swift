import Foundation
import Testing

@testable import SecurePushClient

/// Programs as `codesign` leaves them, reduced to what is read.
@Suite struct CodeSignatureTests {
    private static let name = AlertFiltering.entitlement

    private static func plist(_ value: String, _ name: String = name) -> Data {
        Data("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>\(name)</key>\(value)</dict></plist>".utf8)
    }

    private static func little(_ numbers: UInt32...) -> Data {
        Data(numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } })
    }

    private static func big(_ numbers: UInt32...) -> Data {
        Data(numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * (3 - $0))) } })
    }

    /// A program with two load commands, the second of which names the signature, and a signature with two blobs.
    private static func program(_ entitlements: Data) -> Data {
        let length = UInt32(entitlements.count)
        let blob = big(0xFADE_7171, length + 8) + entitlements
        let directory = big(0xFADE_0C02, 8)
        let signature =
            big(0xFADE_0CC0, 28 + 8 + length + 8, 2, 0, 28, 5, 36) + directory + blob
        let head = little(0xFEED_FACF, 0x0100_000C, 0, 2, 2, 40, 0, 0) + little(0x19, 24, 0, 0, 0, 0)
        let start = UInt32(head.count + 16)
        return head + little(0x1D, 16, start, UInt32(signature.count)) + signature
    }

    @Test func theEntitlementIsFound() {
        #expect(CodeSignature(of: Self.program(Self.plist("<true/>"))).has(Self.name))
        // A slice does not begin at 0.
        let longer = Data([1, 2, 3]) + Self.program(Self.plist("<true/>"))
        #expect(CodeSignature(of: longer.dropFirst(3)).has(Self.name))
    }

    @Test(arguments: ["<false/>", "<string>true</string>", "<array/>"]) func anotherValueIsNone(_ value: String) {
        #expect(!CodeSignature(of: Self.program(Self.plist(value))).has(Self.name))
    }

    @Test func anotherEntitlementIsNone() {
        #expect(!CodeSignature(of: Self.program(Self.plist("<true/>", "get-task-allow"))).has(Self.name))
        #expect(!CodeSignature(of: Self.program(Data("no list".utf8))).has(Self.name))
    }

    /// Every cut and every changed byte is read without a trap.
    @Test func damagedProgramsHaveNone() {
        let program = Self.program(Self.plist("<true/>"))
        for length in 0..<program.count { #expect(!CodeSignature(of: program.prefix(length)).has(Self.name)) }
        for index in program.indices {
            for byte: UInt8 in [0, 0x7F, 0xFF] {
                var changed = program
                changed[index] = byte
                _ = CodeSignature(of: changed).has(Self.name)
            }
        }
    }

    @Test func theTestsAreNotSignedInThisWay() {
        #expect(!AlertFiltering.isAllowed)
    }
}
