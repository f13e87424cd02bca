import Domain
import Testing

@testable import Storage

struct StorageConfigurationTests {
    @Test(arguments: [
        ("memory:", StoreKind.memory), ("sqlite:./a/b.sqlite", .sqlite), ("sqlite:/var/lib/x", .sqlite),
        ("sqlite:///var/lib/x", .sqlite), ("postgres://h/db", .postgres), ("postgresql://u@h:1,i:2/db", .postgres),
    ])
    func `A URL names its store`(_ url: String, _ kind: StoreKind) throws {
        #expect(try StorageConfiguration(url: url).kind == kind)
    }

    @Test(arguments: [
        ("sqlite:a b/c%20d.sqlite", "a b/c%20d.sqlite"), ("sqlite:/x?y#z", "/x?y#z"), ("sqlite:///x", "/x"),
    ])
    func `A path is taken as it is`(_ url: String, _ path: String) throws {
        #expect(try StorageConfiguration(url: url).location == .sqlite(path: path))
    }

    @Test(arguments: [
        "", "sqlite:", "sqlite://host/path", "sqlite::memory:",
        "mysql://u:s3cret@h/db", "s3cret", "memory", "/x.sqlite",
        "POSTGRES://u:s3cret@h/db",
    ])
    func `Anything else is refused without being shown`(_ url: String) throws {
        let error = #expect(throws: StorageError.self) { try StorageConfiguration(url: url) }
        #expect(error?.code == .invalid)
        #expect(error.map { !"\($0)".contains("s3cret") } ?? false)
    }

    @Test(arguments: [
        "postgres://u:s3cret@h:5432/db?sslmode=require", "postgres://u:s3cret@a,b:2/db",
        "postgres://u:s3/cret@h/db",
        "postgres://u:s3cret?x@h/db", "postgres://u:a@s3cret@h/db", "postgres://h/db?password=s3cret",
        "postgres://h/db?password=x@s3cret", "postgres://u:s3cret", "postgresql://u:s3cret#@h/db",
    ])
    func `No form of a password is ever shown`(_ url: String) throws {
        let configuration = try StorageConfiguration(url: url)
        for text in ["\(configuration)", String(reflecting: configuration)] {
            #expect(!text.contains("cret"), "\(text)")
            #expect(text.hasPrefix("postgres"))
        }
    }

    @Test func `Hosts are shown where they are certain`() throws {
        let url = "postgres://u:s3cret@db.example:5432,[::1]:1/push?sslmode=require"
        #expect("\(try StorageConfiguration(url: url))" == "postgres://db.example:5432,[::1]:1")
        #expect("\(try StorageConfiguration(url: "sqlite:./x"))" == "sqlite:./x")
    }
}
