import Foundation
import Testing

/// Rules on declarations: documented where public, named once, and no work started by an initialiser.
@Suite struct DeclarationTests {
    /// All programs are one package, so only the SDK has something to publish. The stand-ins take the place of modules
    /// of Apple's, and the samples of these tests hold the word.
    @Test(
        arguments: SourceFile.all.filter { file in
            !["Clients/", "Tests/AppleStandIns/", "Tests/TidyTests/"].contains(where: file.path.hasPrefix)
        })
    func `Only the SDK is public`(_ file: SourceFile) {
        for declaration in file.declarations where declaration.isPublic {
            Issue.record("\(file.path):\(declaration.line) is public; write package: \(declaration.text)")
        }
    }

    @Test(arguments: SourceFile.all.filter { $0.path.hasPrefix("Clients/Swift/Sources/") })
    func `Every public declaration is documented`(_ file: SourceFile) {
        for declaration in file.declarations where declaration.isPublic && !declaration.isDocumented {
            // A protocol's requirement is documented in the protocol.
            if declaration.isInConformance || declaration.isWellKnownWitness { continue }
            Issue.record("\(file.path):\(declaration.line) has no doc comment: \(declaration.text)")
        }
    }

    /// A search for a type finds one. The emulator is the other side of the hub's wire, so it may repeat names.
    @Test func `No type name is in two modules`() {
        var modules: [String: Set<String>] = [:]
        for file in SourceFile.production where file.module != "Services/HubEmulator" {
            for declaration in file.declarations where declaration.isTopLevelType && !declaration.isPrivate {
                modules[declaration.name, default: []].insert(file.module)
            }
        }
        for (name, found) in modules where found.count > 1 {
            Issue.record("\(name) is declared in \(found.sorted().joined(separator: ", "))")
        }
    }

    /// A task that an initialiser starts has no owner who waits for it.
    @Test(arguments: SourceFile.production)
    func `Initialisers start no task`(_ file: SourceFile) {
        for declaration in file.declarations where declaration.isInitialiser {
            for line in file.body(of: declaration) where file.lines[line].contains("Task {") {
                Issue.record("\(file.path):\(line + 1) starts a task in an initialiser")
            }
        }
    }

    @Test func `The rules see what they forbid`() {
        let file = SourceFile(
            path: "Shared/Sample/Sample.swift",
            lines: """
                /// Documented.
                public struct Sample: Sendable {
                    public let bare: Int
                    /// Documented.
                    @inlinable public func documented() {}
                    public init() {
                        Task { await work() }
                    }
                    public var description: String { "" }
                }

                extension Sample: Port {
                    public func requirement() {}
                }

                private enum Hidden {}
                """.components(separatedBy: "\n"))
        let undocumented = file.declarations.filter {
            $0.isPublic && !$0.isDocumented && !$0.isInConformance && !$0.isWellKnownWitness
        }
        #expect(undocumented.map(\.line) == [3, 6])
        #expect(file.declarations.filter(\.isTopLevelType).map(\.name) == ["Sample", "Hidden"])
        let initialiser = file.declarations.first(where: \.isInitialiser)
        #expect(initialiser.map { file.body(of: $0).contains { file.lines[$0].contains("Task {") } } == true)
    }
}
