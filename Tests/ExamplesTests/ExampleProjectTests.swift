import Foundation
import TestSupport
import Testing

/// What Xcode reads beside the sources: project, property lists, entitlements and texts.
@Suite struct ExampleProjectTests {
    private static let folder = TestEnvironment.packageRoot.appending(path: "Examples/iOS")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    private static func propertyList(_ path: String) throws -> [String: any Sendable] {
        let data = try Data(contentsOf: folder.appending(path: path))
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        return try #require(list as? [String: any Sendable])
    }

    @Test func `Every path of the project exists`() throws {
        let project = try Self.text("project.yml")
        let settings = project.matches(of: /\s(?:path|Debug|Release|INFOPLIST_FILE|CODE_SIGN_ENTITLEMENTS): (\S+)/)
        let sources = project.matches(of: /(?m)^      - ([A-Z]\w+)$/)
        let paths = settings.map { String($0.1) } + sources.map { String($0.1) }
        #expect(paths.count >= 11)
        for path in paths {
            #expect(FileManager.default.fileExists(atPath: Self.folder.appending(path: path).path), "\(path)")
        }
    }

    @Test func `The app may run when a silent push arrives`() throws {
        let info = try Self.propertyList("App/Info.plist")
        #expect(info["UIBackgroundModes"] as? [String] == ["remote-notification"])
        #expect(try Self.propertyList("App/App.entitlements")["aps-environment"] as? String == "$(APS_ENVIRONMENT)")
    }

    @Test func `The extension is a notification service extension`() throws {
        let info = try Self.propertyList("NotificationService/Info.plist")
        let point = try #require(info["NSExtension"] as? [String: any Sendable])
        #expect(point["NSExtensionPointIdentifier"] as? String == "com.apple.usernotifications.service")
        #expect(point["NSExtensionPrincipalClass"] as? String == "$(PRODUCT_MODULE_NAME).NotificationService")
        let source = try Self.text("NotificationService/NotificationService.swift")
        #expect(source.contains("class NotificationService: UNNotificationServiceExtension"))
    }

    /// Both may use what `Common/Deployment.swift` reads, so both see the same credentials and the same shown IDs.
    @Test func `App and extension share keychain and folder`() throws {
        for target in ["App/App", "NotificationService/NotificationService"] {
            let rights = try Self.propertyList("\(target).entitlements")
            let info = try Self.propertyList("\(target.split(separator: "/")[0])/Info.plist")
            let groups = try #require(rights["com.apple.security.application-groups"] as? [String])
            let keychains = try #require(rights["keychain-access-groups"] as? [String])
            #expect(groups == [info["SecurePushAppGroup"] as? String], "\(target)")
            #expect(keychains == [info["SecurePushKeychainGroup"] as? String], "\(target)")
        }
    }

    /// A variable that no file sets would be empty in the app.
    @Test func `Every build variable is set`() throws {
        let known: Set = [
            "EXECUTABLE_NAME", "PRODUCT_NAME", "PRODUCT_BUNDLE_PACKAGE_TYPE", "PRODUCT_MODULE_NAME",
            "AppIdentifierPrefix",
        ]
        let set = try Set(
            ["Deployment.xcconfig", "project.yml"].flatMap { file in
                try Self.text(file).matches(of: /(?m)^ *([A-Z_]+)(?: =|:)/).map { String($0.1) }
            })
        let files = ["App/Info.plist", "App/App.entitlements", "NotificationService/Info.plist"]
        for file in files + ["NotificationService/NotificationService.entitlements", "project.yml"] {
            for match in try Self.text(file).matches(of: /\$\(([A-Za-z_]+)\)/) {
                #expect(set.union(known).contains(String(match.1)), "\(file): \(match.0)")
            }
        }
    }

    @Test func `Every text is there in every language`() throws {
        let languages = try ["en", "de"].map { try Self.keys("Common/\($0).lproj/Localizable.strings") }
        #expect(languages[0] == languages[1])
        // The texts of the client library, and those of the app.
        let used = try Self.swiftFiles(
            ["Examples/iOS", "Clients/Swift/Sources"].map { TestEnvironment.packageRoot.appending(path: $0) }
        ).flatMap { try String(contentsOf: $0, encoding: .utf8).matches(of: /"((?:securepush|app)\.[a-z.-]+)"/) }
        let keys = Set(used.map { String($0.1) })
        #expect(keys.count >= 15)
        #expect(keys.subtracting(languages[0]) == [])
    }

    private static func keys(_ path: String) throws -> Set<String> {
        Set(try text(path).matches(of: /(?m)^"([^"]+)" = ".+";$/).map { String($0.1) })
    }

    private static func swiftFiles(_ folders: [URL]) throws -> [URL] {
        try folders.flatMap { folder in
            let walker = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            return walker.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        }
    }
}
