import SignalboxJSON
import Testing

@testable import SignalboxNotification

@Suite struct ActionTypesTests {
    @Test(arguments: try ActionFixtures.files(in: "actions").map(\.name))
    func reportsTheProblemsOfEachAction(_ name: String) throws {
        let text = try #require(try ActionFixtures.files(in: "actions").first { $0.name == name }).text
        try ActionFixtures.forEach(in: text) { value in
            let action = try Action(try #require(value["action"]))
            var types = ActionTypes()
            types.schemes = value["schemes"].map { Set($0.elements.compactMap(\.string)) }
            let problems = types.problems(with: action, options: nil)
            let expected = try #require(value["problems"]).elements.compactMap(\.string)
            #expect(problems.map(Self.spelled) == expected, "\(action)")
            #expect(action.type != .snooze || action.snoozeMinutes == value["minutes"]?.integer.map { Int($0) })
            for problem in problems { #expect(problem.message.hasSuffix(".") && !problem.message.contains("nil")) }
        }
    }

    @Test func everyTypeOfActionHasAFixture() throws {
        var types: Set<String> = []
        for file in try ActionFixtures.files(in: "actions") {
            try ActionFixtures.forEach(in: file.text) { types.insert($0["action"]?["type"]?.string ?? "") }
        }
        #expect(types == Set(Action.ActionType.allCases.map(\.rawValue)))
    }

    @Test func messageForARefusedSchemeNamesTheSetting() {
        for schemes in [nil, ["https"]] as [Set<String>?] {
            var types = ActionTypes()
            types.schemes = schemes
            let problems = types.problems(with: Action(.openUrl, value: "data:,a"), options: nil)
            #expect(
                problems.map(\.message) == [#"The scheme "data" is not allowed; see actions.schemes in the config."#])
        }
    }

    @Test func buttonsOfACustomTypeNeedTheirOptions() {
        var types = ActionTypes()
        var type = ActionTypes.CustomType()
        type.requiredOptions = [.foreground, .authenticationRequired]
        types.custom["viewProduct"] = type
        let action = Action(.custom, vendorType: "viewProduct")
        #expect(
            types.problems(with: action, options: [.foreground]).map(Self.spelled) == ["action.option-missing /options"]
        )
        #expect(types.problems(with: action, options: [.foreground, .authenticationRequired, .destructive]).isEmpty)
        // The action of the notification itself has no options.
        #expect(types.problems(with: action, options: nil).isEmpty)
        // Compared exactly, as MCE's registry does.
        #expect(types.problems(with: Action(.custom, vendorType: "viewproduct"), options: []).isEmpty)
    }

    @Test func aRegisteredTypeOverridesABuiltInOne() {
        var types = ActionTypes()
        types.custom["dial"] = ActionTypes.CustomType()
        types.custom["url"] = ActionTypes.CustomType()
        types.schemes = ["https"]
        #expect(types.problems(with: Action(.dial, value: "support", vendorType: "dial"), options: nil).isEmpty)
        // The allowed schemes apply to the types of the app too.
        let link = Action(.deepLink, value: "myapp://a", vendorType: "url")
        #expect(
            types.problems(with: link, options: nil).map(Self.spelled) == ["action.scheme-not-allowed /value refused"])
    }

    private static func spelled(_ problem: ActionProblem) -> String {
        [problem.code.rawValue, problem.path, problem.isRefusal ? "refused" : ""].filter { !$0.isEmpty }
            .joined(separator: " ")
    }
}
