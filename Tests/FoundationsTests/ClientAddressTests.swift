import Foundations
import Testing

struct ClientAddressTests {
    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("2001:db8:0:1:a::1", "2001:db8:0:1::/64"),
        ("::1", "0:0:0:0::/64"), ("fe80::1", "fe80:0:0:0::/64"),
    ])
    func `An address stands for its network`(text: String, description: String) {
        #expect(ClientAddress(text)?.description == description)
    }

    @Test func `A subscriber is one client`() {
        #expect(ClientAddress("2001:db8:0:1::1") == ClientAddress("2001:db8:0:1:ffff:ffff:ffff:ffff"))
        #expect(ClientAddress("2001:db8:0:1::1") != ClientAddress("2001:db8:0:2::1"))
        #expect(ClientAddress("127.0.0.1") != ClientAddress("127.0.0.2"))
    }

    @Test(arguments: ["", "localhost", "1.2.3", "fe80::1%eth0", "1.2.3.4:80", "[::1]"])
    func `Other texts are no addresses`(text: String) { #expect(ClientAddress(text) == nil) }
}
