import SignalboxNotification
import Testing

@testable import SignalboxConfig
@testable import SignalboxServer

@Suite struct GreetingTests {
    private func greeting(_ config: GatewayConfig) throws -> String {
        let address = try #require(ListenAddress("127.0.0.1:8080"))
        return GatewayServer.Addresses(http: address, providers: nil)
            .greeting(config, version: "1", dataDirectory: "data")
    }

    @Test func namesTheDestinations() throws {
        var config = GatewayConfig()
        #expect(try greeting(config).contains("\ndestinations: none; queue: data\nTry:  curl "))
        config.destinations = [Destination(name: DestinationName("inbox"), endpoint: .inbox)]
        #expect(
            try greeting(config).hasPrefix(
                "signalbox 1 listening on http://127.0.0.1:8080\ndestinations: inbox; queue: data\n"))
    }

    /// A request without a token would be refused.
    @Test(
        arguments: [
            ([.environment("T")], nil, true), ([.environment("T")], [.notifications], true),
            ([.environment("T")], [.inapp], false), ([], nil, false),
        ] as [([SecretReference], Set<SourceRight>?, Bool)])
    func suggestsARequestOnlyIfASourceMayMakeIt(
        bearer: [SecretReference], rights: Set<SourceRight>?, isSuggested: Bool
    ) throws {
        var source = GatewayConfig.Source()
        (source.bearer, source.may) = (bearer, rights)
        var config = GatewayConfig()
        config.sources = [SourceName("app"): source]
        let text = try greeting(config)
        #expect(text.contains("authorization: Bearer $TOKEN") == isSuggested, "\(text)")
        #expect(text.contains("Try:") == isSuggested && text.hasSuffix("\n"), "\(text)")
    }
}
