import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// A name server that never answers, for gateways with their own `resolv.conf`. Requires root.
private final class SilentNameServer {
    // A class because it owns a socket.
    static let address = "127.94.94.94"
    private let descriptor: Int32

    init?() {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(53).bigEndian
        address.sin_addr.s_addr = inet_addr(Self.address)
        let isBound = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if !isBound { return nil }
    }

    deinit { close(descriptor) }

    static var isPossible: Bool { SilentNameServer() != nil }
}

/// A port that answers no client: the queue of its connections is full.
private final class FullPort {
    // A class because it owns sockets.
    private var descriptors: [Int32] = []

    init(_ host: String, port: Int) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptors = [listener]
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        try withUnsafePointer(to: &address) { address in
            try address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let length = socklen_t(MemoryLayout<sockaddr_in>.size)
                try #require(bind(listener, address, length) == 0 && listen(listener, 0) == 0)
                for _ in 1...4 {
                    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                    descriptors.append(client)
                    _ = connect(client, address, length)
                }
            }
        }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}

@Suite(.timeLimit(.minutes(15))) struct NameServerTests {
    /// Its only attempt would otherwise end after ten seconds, without a connection to the second address.
    @Test(.enabled { await Namespace.isAllowed })
    func anAddressThatHangsDoesNotHideTheNext() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(on: "127.0.0.3") { receiver in
                let port = receiver.address.port
                let hanging = try FullPort("127.0.0.2", port: port)
                let config = """
                    { "destinations": { "crm": {
                        "url": "http://crm.example:\(port)/", "secret": "env:WEBHOOK_SECRET", "allow": ["127.0.0.0/8"],
                        "retry": { "attempts": 1 } } },
                      "routes": [ { "name": "all", "match": {}, "to": ["crm"] } ] }
                    """
                let hosts = "127.0.0.1 localhost\n127.0.0.2 crm.example\n127.0.0.3 crm.example\n"
                try Data(hosts.utf8).write(to: URL(fileURLWithPath: directory + "/hosts"))
                let gateway = try await Gateway.start(in: directory, config: config, behind: Namespace.hosts)
                #expect(try await gateway.post(Data(#"{"aps":{"alert":"x"}}"#.utf8)).status == 202)
                #expect(await receiver.next().count == 1)
                #expect(await gateway.stop() == 0)
                withExtendedLifetime(hanging) {}
            }
        }
    }

    /// Each of three attempts times out after a second, the lookup of the name after thirty.
    @Test(.enabled { await Namespace.isAllowed && SilentNameServer.isPossible })
    func aSlowLookupDelaysNoOtherRequest() async throws {
        let server = try #require(SilentNameServer())
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let config = """
                    { "egress": { "allow": ["127.0.0.0/8"] },
                      "destinations": {
                        "crm": { "url": "\(receiver.url)", "secret": "env:WEBHOOK_SECRET" },
                        "lost": { "url": "http://nobody.example/", "secret": "env:WEBHOOK_SECRET", "timeout": "1s",
                          "retry": { "attempts": 3, "base": "1ms", "max": "2ms" } } },
                      "routes": [
                        { "name": "dead", "match": { "type": ["io.signalbox.delivery.dead"] }, "to": ["crm"] },
                        { "name": "lost", "match": {}, "to": ["lost"] } ] }
                    """
                let nameServer = "nameserver \(SilentNameServer.address)\noptions timeout:30 attempts:1\n"
                try Data(nameServer.utf8).write(to: URL(fileURLWithPath: directory + "/resolv.conf"))
                let gateway = try await Gateway.start(in: directory, config: config, behind: Namespace.nameServers)
                #expect(try await gateway.post(Data(#"{"aps":{"alert":"x"}}"#.utf8)).status == 202)
                let dead = try #require(await receiver.next().first)
                #expect(String(decoding: dead.body, as: UTF8.self).contains("io.signalbox.delivery.dead"))
                #expect(await gateway.stop() == 0)
            }
        }
        withExtendedLifetime(server) {}
    }
}
