import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

struct LocalConfigTests {
    @Test func theStarterConfigHasNoMistake() throws {
        let config = try RoutedConfig(Array(StarterConfig.text.utf8))
        #expect(config.config.warnings.isEmpty)
        #expect(config.config.destinations.map(\.name.name) == ["inbox"])
        #expect(StarterConfig.text.contains("$comment"))
    }

    @Test func theStarterConfigNeverReplacesAFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/routes.json"
            try StarterConfig.write(to: path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == StarterConfig.text)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: CommandFailure.self) { try StarterConfig.write(to: path) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            #expect(throws: CommandFailure.self) { try StarterConfig.write(to: directory + "/no/routes.json") }
        }
    }

    private let files = [
        ConfigText(
            name: "routes.json",
            bytes: Array(
                #"{"destinations":{"crm":{"url":"https://u:pw@crm.example.com/x?key=abc","secret":"env:CRM"}},"retention":{"ended":"1d"}}"#
                    .utf8)),
        ConfigText(name: "routes.d/a.json", bytes: Array(#"{"destinations":{"erp":{"secret":"whsec_abc"}}}"#.utf8)),
    ]

    @Test func secretsAreHiddenAndReferencesShown() {
        let json = EffectiveConfig([], files).json
        #expect(json.contains(#"{"pointer":"/destinations/crm/secret","value":"env:CRM","from":"routes.json"}"#))
        #expect(json.contains(#""pointer":"/destinations/erp/secret","value":"[hidden]","from":"routes.d/a.json""#))
        for secret in ["pw", "abc", "whsec_"] { #expect(!json.contains(secret), "\(secret)") }
    }

    @Test func optionsThatNoFileSetsHaveTheirDefaults() {
        let lines = EffectiveConfig([], files).lines.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.contains("/retention/ended routes.json \"1d\""))
        #expect(lines.contains("/retention/dead default \"30d\""))
        #expect(lines.count { $0.hasPrefix("/retention/ended ") } == 1)
    }

    @Test func settingsNameTheirOrigin() {
        let settings: [EffectiveConfig.Setting] = [
            .init("a", "1", "2", "3", else: "4"), .init("b", nil, "2", "3", else: "4"),
            .init("c", nil, nil, "3", else: "4"), .init("d", nil, nil, nil, else: "4"),
        ]
        #expect(settings.map(\.value) == ["1", "2", "3", "4"])
        #expect(settings.map(\.from) == [.flag, .environment, .config, .default])
        #expect(EffectiveConfig(settings, []).json.hasPrefix(#"{"settings":{"a":{"value":"1","from":"flag"}"#))
    }
}
