import SignalboxCommands
import SignalboxGateway
import Testing

struct InputTextsTests {
    @Test func anEmptyVariableNamesNoSecret() throws {
        #expect(try InputTexts.webhookKeys(nil, [:]) == nil)
        #expect(try InputTexts.webhookKeys(nil, ["WEBHOOK_SECRET": ""]) == nil)
        let secret = NewWebhookKey.symmetric().secret
        #expect(try InputTexts.webhookKeys(nil, ["WEBHOOK_SECRET": secret]) != nil)
    }

    @Test func anEmptyVariableThatIsNamedIsAnError() {
        #expect(throws: CommandFailure.self) {
            try InputTexts.webhookKeys("env:WEBHOOK_SECRET", ["WEBHOOK_SECRET": ""])
        }
    }
}
