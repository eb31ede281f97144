import SignalboxConfig
import SignalboxRouting
import Testing

@Suite struct ConsoleConfigTests {
    private static func kept(_ text: String) throws -> GatewayConfig.Console.KeptPayloads {
        try RoutedConfig(Array(text.utf8)).config.console.keepPayloads
    }

    @Test func keepsPayloadsOnRequestOnly() throws {
        #expect(try Self.kept("{}") == .none && Self.kept("{\"console\": {}}") == .none)
        for kept in GatewayConfig.Console.KeptPayloads.allCases {
            #expect(try Self.kept("{\"console\": {\"keepPayloads\": \"\(kept.rawValue)\"}}") == kept)
        }
    }
}
