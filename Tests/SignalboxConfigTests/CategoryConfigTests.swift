import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import Testing

@Suite struct CategoryConfigTests {
    private func read(_ text: String) throws -> GatewayConfig.Categories {
        try RoutedConfig(Array(text.utf8)).config.categories
    }

    @Test func storesCategoriesFor90DaysByDefault() throws {
        let categories = try read("{}")
        #expect(categories.age == .seconds(90 * 86_400))
        #expect(categories.count == 1000)
        #expect(categories.statics.isEmpty)
        #expect(try read(#"{ "categories": {} }"#) == categories)
    }

    @Test func readsDeclaredCategories() throws {
        let categories = try read(
            """
            { "categories": { "retention": { "age": "30d", "count": 50 }, "static": { "com.example ORDER/1": { "actions": [
              { "identifier": "OPEN", "title": "Open", "options": ["foreground"] },
              { "identifier": "NO", "title": "No", "options": ["destructive", "authenticationRequired"] },
              { "identifier": "SAY", "title": "Say", "textInput": {} },
              { "identifier": "WRITE", "title": "Write", "type": "custom",
                "textInput": { "buttonTitle": "Send", "placeholder": "Your text" } },
              { "identifier": "SITE", "title": "Site", "type": "openUrl", "value": "https://example.com" } ] } } } }
            """)
        #expect(categories.age == .seconds(30 * 86_400))
        #expect(categories.count == 50)
        let order = try #require(categories.statics["com.example ORDER/1"])
        #expect(order.origin == .static)
        #expect(
            order.actions == [
                .init(identifier: "OPEN", title: "Open", action: Action(.openApp), options: .foreground),
                .init(
                    identifier: "NO", title: "No", action: Action(.custom),
                    options: [.destructive, .authenticationRequired]),
                .init(identifier: "SAY", title: "Say", action: Action(.reply), textInput: .init()),
                .init(
                    identifier: "WRITE", title: "Write", action: Action(.custom),
                    textInput: .init(buttonTitle: "Send", placeholder: "Your text")),
                .init(identifier: "SITE", title: "Site", action: Action(.openUrl, value: "https://example.com")),
            ])
    }
}
