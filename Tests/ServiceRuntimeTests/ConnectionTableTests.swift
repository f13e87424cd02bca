import Foundations
import NIOCore
import Testing

@testable import ServiceRuntime

@Suite("Which connections are admitted")
struct ConnectionTableTests {
    private static let alice = ClientAddress("192.0.2.1")
    private static let bob = ClientAddress("192.0.2.2")

    @Test func `Within the limit nothing is evicted`() {
        var book = ConnectionTable(maxConnections: 3, maxPerAddress: 0)
        for _ in 0..<3 {
            #expect(book.admitted(Self.alice) != nil)
        }
        #expect(book.count == 3)
    }

    @Test func `The oldest without a request makes room`() {
        var book = ConnectionTable(maxConnections: 3, maxPerAddress: 0)
        let ids = (0..<3).compactMap { _ in book.admitted(Self.alice) }
        book.becameBusy(ids[0])
        book.becameBusy(ids[1])
        book.becameIdle(ids[1])
        // 0 has a request, and 1 had one after 2 came.
        #expect(book.evicted(by: Self.bob) == ids[2])
        #expect(book.evicted(by: Self.bob) == ids[1])
        #expect(book.count == 3)
    }

    @Test func `One that has got a request stays`() {
        var book = ConnectionTable(maxConnections: 1, maxPerAddress: 0)
        let first = book.admitted(Self.alice)
        #expect(book.evicted(by: Self.bob) == first)
        guard let first else { return }
        book.keep(first)
        #expect(book.count == 2)
        book.closed(first)
        #expect(book.count == 1)
    }

    @Test func `Where all are busy a few are restricted and then refused`() throws {
        var book = ConnectionTable(maxConnections: 2, maxPerAddress: 0)
        for id in (0..<2).compactMap({ _ in book.admitted(Self.alice) }) { book.becameBusy(id) }
        var restricted: [ConnectionTable.ID] = []
        for _ in 0..<ConnectionTable.maxRestricted {
            let next = book.restricted(Self.bob)
            let admission = try #require(next)
            #expect(admission.evicted == nil)
            book.becameBusy(admission.id)
            restricted.append(admission.id)
        }
        #expect(book.admit(Self.bob) == .refused(.limit))
        // One of these without a request makes room, for another of these.
        book.becameIdle(restricted[3])
        #expect(book.restricted(Self.bob)?.evicted == restricted[3])
        book.closed(restricted[4])
        #expect(book.restricted(Self.bob) != nil)
    }

    @Test func `One address takes its share only`() {
        var book = ConnectionTable(maxConnections: 10, maxPerAddress: 2)
        let others = book.admitted(Self.bob)
        let own = (0..<2).compactMap { _ in book.admitted(Self.alice) }
        // Its own makes room, although another's is older.
        #expect(book.evicted(by: Self.alice) == own[0])
        #expect(own[0] != others)
        #expect(book.count == 3)
        #expect(book.admitted(Self.bob) != nil)
        // Sockets without an address have no share.
        for _ in 0..<3 { #expect(book.admitted(nil) != nil) }
    }

    @Test func `Evictions that are not done are bounded`() {
        var book = ConnectionTable(maxConnections: 100, maxPerAddress: 0)
        for _ in 0..<100 { _ = book.admitted(Self.alice) }
        for _ in 0..<ConnectionTable.maxEvicting { #expect(book.evicted(by: Self.bob) != nil) }
        #expect(book.restricted(Self.bob).map { $0.evicted == nil } == true)
    }

    @Test func `Many requests leave no trace`() {
        var book = ConnectionTable(maxConnections: 4, maxPerAddress: 4)
        let ids = (0..<4).compactMap { _ in book.admitted(Self.alice) }
        for number in 0..<100_000 {
            book.becameBusy(ids[number % 4])
            book.becameIdle(ids[number % 4])
        }
        #expect(book.queued <= 2 * (4 * 4 + 65))
        #expect(book.evicted(by: Self.alice) == ids[0])
        for id in ids { book.closed(id) }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false), ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
    ])
    func `Addresses of one network are one client`(one: String, other: String, isSame: Bool) throws {
        #expect((ClientAddress(one) == ClientAddress(other)) == isSame)
        // A socket without an IP address counts for no client.
        #expect(try SocketAddress(unixDomainSocketPath: "/tmp/socket").ipAddress == nil)
    }

    @Test func `The limit leaves the reserve`() throws {
        func limits(_ descriptors: Int) throws -> HTTPLimits { try HTTPLimits().resolved(descriptors: descriptors) }
        #expect(try limits(256).maxConnections == 128)
        #expect(try limits(1024).maxConnections == 816)
        #expect(try limits(65_536).maxConnections == 52_424)
        #expect(try limits(65_536).maxConnectionsPerAddress == 26_212)
        #expect(try limits(64).maxConnections == 16)
        var asked = HTTPLimits()
        asked.maxConnections = 900
        asked.maxConnectionsPerAddress = 0
        let error = #expect(throws: (any Error).self) { try asked.resolved(descriptors: 1024) }
        #expect("\(String(describing: error))".contains("set at most 896, or raise `ulimit -n`"))
        let chosen = try asked.resolved(descriptors: 1028)
        #expect(chosen.maxConnections == 900)
        #expect(chosen.maxConnectionsPerAddress == 0)
    }
}

extension ConnectionTable {
    fileprivate mutating func admitted(_ address: ClientAddress?) -> ID? {
        guard case .admitted(let id, false, nil) = admit(address) else { return nil }
        return id
    }

    fileprivate mutating func restricted(_ address: ClientAddress?) -> (id: ID, evicted: ID?)? {
        guard case .admitted(let id, true, let evicted) = admit(address) else { return nil }
        return (id, evicted)
    }

    fileprivate mutating func evicted(by address: ClientAddress?) -> ID? {
        guard case .admitted(_, false, let id) = admit(address) else { return nil }
        return id
    }
}
