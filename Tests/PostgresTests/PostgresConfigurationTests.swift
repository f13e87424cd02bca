import Postgres
import Testing

struct PostgresConfigurationTests {
    @Test func `Descriptions show no password`() throws {
        let configuration = try PostgresConfiguration(uri: "postgres://me:s3cret@db.example:5433/push?sslmode=require")
        #expect(configuration.description == "postgres://db.example:5433/push")
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!"\(configuration) \(String(reflecting: configuration)) \(dumped)".contains("s3cret"))
    }

    @Test(arguments: ["postgres://me:s3cret@[", "nonsense s3cret", "postgres://h/d?s3cret=1"])
    func `An unusable URI is refused without being repeated`(_ uri: String) {
        #expect { try PostgresConfiguration(uri: uri) } throws: { error in
            (error as? PostgresError)?.code == .invalid && !"\(error)".contains("s3cret")
        }
    }

    @Test(arguments: [
        ("postgres://h/d", ["h"]), ("postgres://h,i/d?sslmode=require", ["h", "i"]),
        ("postgres://h/d?sslmode=verify-full", []), ("postgres://h/d?sslmode=verify-ca", []),
        ("postgres:///d", []), ("postgres://%2Frun%2Fpostgresql/d", []), ("postgres:///d?host=/tmp,h", ["h"]),
        ("postgres://h/d?hostaddr=192.0.2.1", ["192.0.2.1"]), ("postgres://[::1]/d", ["::1"]),
    ])
    func `Hosts that are not verified`(uri: String, hosts: [String]) throws {
        #expect(try PostgresConfiguration(uri: uri).unverifiedHosts == hosts)
    }

    @Test func `A huge timeout is bounded`() throws {
        let uri = "postgres://h/d?connect_timeout=9223372036854775807"
        #expect(try PostgresConfiguration(uri: uri).connectTimeout == .seconds(3600))
    }

    @Test func `Connect timeout comes from the URI`() throws {
        #expect(try PostgresConfiguration(uri: "postgres://h/d?connect_timeout=2").connectTimeout == .seconds(2))
        #expect(try PostgresConfiguration(uri: "postgres://h/d").connectTimeout == .seconds(5))
    }
}
