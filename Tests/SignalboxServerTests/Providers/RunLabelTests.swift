import Testing

@testable import SignalboxServer

/// The label of a run, in the header field or the path.
@Suite struct RunLabelTests {
    /// The request after its label has been read; nil if the label is refused.
    private static func read(_ path: String, header: String? = nil) -> ProviderRequest? {
        let connection = ProviderConnection(
            peer: PeerAddress(nil), address: "", isLoopback: true)
        let sent = ProviderRequest(
            method: "POST", target: path, headers: header.map { [("signalbox-run", $0)] } ?? [],
            connection: connection)
        let (request, isValid) = sent.labelled()
        return isValid ? request : nil
    }

    @Test(
        arguments: [
            ("/3/device/a", nil, "/3/device/a", nil),
            ("/3/device/a", "t-1", "/3/device/a", "t-1"),
            ("/r/t.1/3/device/a", nil, "/3/device/a", "t.1"),
            ("/r/path/3/device/a", "header", "/3/device/a", "path"),
            ("/s/secret/r/t1/3/device/a", nil, "/s/secret/3/device/a", "t1"),
            ("/s/secret/3/device/a", "t1", "/s/secret/3/device/a", "t1"),
            ("/s/r/3/device/a", nil, "/s/r/3/device/a", nil),
            ("/r/t1/v1/projects/p/messages:send", nil, "/v1/projects/p/messages:send", "t1"),
            ("/r/t1", nil, "", "t1"),
        ] as [(String, String?, String, String?)])
    func readsTheLabel(path: String, header: String?, rest: String, run: String?) throws {
        let request = try #require(Self.read(path, header: header))
        #expect(request.path == rest)
        #expect(request.run == run)
    }

    @Test(
        arguments: [
            ("/r//3/device/a", nil), ("/r/a%20b/3/device/a", nil), ("/r/", nil), ("/3/device/a", "a b"),
            ("/3/device/a", ""), ("/r/t1/s/secret/3/device/a", nil), ("/s/x/r/t1/s/secret/3/device/a", nil),
            ("/3/device/a", String(repeating: "a", count: 65)),
        ] as [(String, String?)])
    func refusesOtherText(path: String, header: String?) {
        #expect(Self.read(path, header: header) == nil)
    }
}
