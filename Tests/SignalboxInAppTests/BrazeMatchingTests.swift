import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// The choice of a message for an event.
@Suite struct BrazeMatchingTests {
    private func filtered(
        _ comparison: Filter.Comparison, _ property: String = "total", vendor: Vendor = "braze"
    ) throws -> World {
        let filter = Filter([[Filter.Condition(property, comparison)]])
        return World(try message("m", vendor: vendor, on: [.event(name: "buy", filter: filter)]))
    }

    @Test func theHigherPriorityIsOfferedAndTheOtherDoesNotWait() throws {
        var world = World(
            try message("high", vendor: "braze") { $0.rank = VendorRules.rank(of: 10, vendor: "braze") },
            try message("low", vendor: "braze") { $0.rank = VendorRules.rank(of: 1, vendor: "braze") })
        let answer = world.trigger(bought, explain: true)
        #expect(answer.offer?.message == "high")
        #expect(answer.result("low") == .lost)
        #expect(
            answer.check("low")
                == Check(
                    code: .priorityLost, ok: false, expected: "rank below 490", actual: "rank 499", until: nil,
                    source: "high"))
        #expect(world.rows.offers.count == 1)
    }

    @Test func theFirstIDIsOfferedAmongEqualMessages() throws {
        var world = World(try message("b"), try message("a"), try message("c"))
        #expect(world.trigger(bought).offer?.message == "a")
        world = World(try message("c"), try message("a"), try message("b"))
        #expect(world.trigger(bought).offer?.message == "a")
    }

    @Test func theNewestMessageIsOfferedAmongEqualRanks() throws {
        var world = World(try message("a") { $0.registeredAt = 1 }, try message("b") { $0.registeredAt = 2 })
        #expect(world.trigger(bought).offer?.message == "b")
    }

    @Test func aFilterMatchesWhenEveryGroupHasATrueCondition() throws {
        let filter = Filter([
            [.init("total", .greaterThan(100)), .init("country", .equals(.text("de")))],
            [.init("items", .atLeast(3)), .init("member", .equals(.boolean(true)))],
        ])
        var world = World(try message("m", vendor: "braze", on: [.event(name: "buy", filter: filter)]))
        let properties: [String: PropertyValue] = [
            "total": .number(5), "country": .text("de"), "items": .number(1), "member": .boolean(true),
        ]
        #expect(world.trigger(bought(properties)).offer != nil)
        #expect(world.trigger(bought(["country": .text("de")]), device: "two", user: "bob").offer == nil)
    }

    @Test func anEventWithoutPropertiesFailsEveryFilterOfBraze() throws {
        var own = try filtered(.notExists, vendor: "own")
        #expect(own.trigger(bought).offer != nil)
        var braze = try filtered(.notExists)
        let answer = braze.trigger(bought, explain: true)
        #expect(answer.offer == nil)
        #expect(answer.check("m")?.actual == "an event without properties")
        #expect(braze.trigger(bought([:])).offer != nil)
    }

    @Test func notEqualsNeedsAPropertyOfTheSameType() throws {
        var world = try filtered(.notEquals(.number(5)))
        #expect(world.trigger(bought(["other": .number(1)])).offer == nil)
        #expect(world.trigger(bought(["total": .text("6")])).offer == nil)
        #expect(world.trigger(bought(["total": .number(6)])).offer != nil)
    }

    @Test func aNumberFilterRejectsAText() throws {
        var world = try filtered(.atLeast(5))
        #expect(world.trigger(bought(["total": .text("5")])).offer == nil)
        #expect(world.trigger(bought(["total": .number(5)])).offer != nil)
    }

    /// SDKs send dates as texts.
    @Test func comparesATextThatIsADateWithDates() throws {
        let (date, text) = (PropertyValue.date(noon), PropertyValue.text("2026-11-22T13:00:00+01:00"))
        for (comparison, value, isShown) in [
            (.equals(date), text, true), (.equals(date), .text("noon"), false), (.equals(date), .number(5), false),
            (.notEquals(date), text, false), (.notEquals(date), .text("2026-11-22T12:00:01Z"), true),
            (.notEquals(date), .text("noon"), false), (.oneOf([.text("x"), date]), text, true),
            (.oneOf([.text("noon"), date]), .text("noon"), true), (.noneOf([date]), text, false),
            (.noneOf([date]), .text("2026-11-22T12:00:01Z"), true), (.noneOf([date]), .text("noon"), false),
            (.containsAll([date, .number(1)]), .list([.number(1), text]), true),
            (.equals(text), date, false), (.equals(text), text, true),
        ] as [(Filter.Comparison, PropertyValue, Bool)] {
            var world = try filtered(comparison)
            let offer = world.trigger(bought(["total": value])).offer
            #expect((offer != nil) == isShown, "\(comparison) \(value)")
        }
    }

    @Test func aPatternMatchesPartOfATextInAnyCase() throws {
        var world = try filtered(.matches(try TextPattern("sale")), "title")
        #expect(world.trigger(bought(["title": .text("Big SALE")])).offer != nil)
    }

    @Test func aFilterFailsWhenOneGroupHasNoTrueCondition() throws {
        let filter = Filter([[.init("a", .greaterThan(1))], [.init("b", .greaterThan(1))]])
        var world = World(try message("m", vendor: "braze", on: [.event(name: "buy", filter: filter)]))
        let answer = world.trigger(bought(["a": .number(2), "b": .number(0)]), explain: true)
        #expect(answer.offer == nil)
        #expect(answer.check("m")?.actual == "group 1: none holds")
    }

    @Test func anOpenedPushMatchesTriggersOfItsCampaignOrOfAny() throws {
        var world = World(try message("m", on: [.pushOpen(campaign: "A")]))
        #expect(world.trigger(.pushOpen(campaign: "B")).offer == nil)
        #expect(world.trigger(.pushOpen(campaign: nil)).offer == nil)
        #expect(world.trigger(.pushOpen(campaign: "A")).offer != nil)
        world = World(try message("m", on: [.pushOpen(campaign: nil)]))
        #expect(world.trigger(.pushOpen(campaign: "B")).offer != nil)
    }

    @Test func anEventWithoutMatchIsRecordedOnce() throws {
        var world = World(try message("m"))
        let answer = world.trigger(.event(name: "sell", properties: nil), explain: true)
        #expect(answer.offer == nil && answer.candidates.isEmpty)
        #expect(world.records.map(\.kind) == [.noMatch])
        #expect(world.records.first?.trigger?.name == "sell")
    }

    @Test func ignoresFiltersOfAPurchaseWithoutProductForBrazeOnly() throws {
        let filter = Filter([[.init("total", .greaterThan(100))]])
        var braze = World(try message("m", vendor: "braze", on: [.purchase(product: nil, filter: filter)]))
        #expect(braze.trigger(.purchase(product: "p", properties: nil)).offer != nil)
        var own = World(try message("m", on: [.purchase(product: nil, filter: filter)]))
        #expect(own.trigger(.purchase(product: "p", properties: nil)).offer == nil)
    }

    @Test func treatsAValueOfAnotherTypeAsNeitherExistingNorAbsent() throws {
        let exists = Filter([[.init("total", .exists, type: .number)]])
        let absent = Filter([[.init("total", .notExists, type: .number)]])
        #expect(exists.outcome(of: ["total": .text("5")], strict: true) == .fails(group: 0))
        #expect(absent.outcome(of: ["total": .text("5")], strict: true) == .fails(group: 0))
    }

    @Test func noneOfNeedsAPropertyOfTheTypeOfOneOfItsValues() {
        let mixed = Filter([[.init("total", .noneOf([.text("a"), .number(1)]))]])
        for (value, holds) in [
            (PropertyValue.number(2), true), (.text("b"), true), (.number(1), false), (.text("a"), false),
            (.boolean(true), false), (.list([.number(2)]), false),
        ] {
            #expect((mixed.outcome(of: ["total": value], strict: false) == .matches) == holds, "\(value)")
        }
        #expect(mixed.outcome(of: ["other": .number(2)], strict: false) == .fails(group: 0))
    }

    @Test func comparesDatesAndLists() {
        let properties: [String: PropertyValue] = [
            "at": .text("2026-11-22T12:00:00.000Z"), "tags": .list([.text("a"), .text("b")]), "n": .number(3),
        ]
        for (condition, holds) in [
            (Filter.Condition("at", .before(noon + 1), type: .date), true), (.init("at", .after(noon)), false),
            (.init("at", .after(noon - 1)), true), (.init("tags", .containsAll([.text("b")])), true),
            (.init("tags", .containsAll([.text("c")])), false), (.init("n", .oneOf([.number(1), .number(3)])), true),
            (.init("n", .noneOf([.number(1)])), true), (.init("n", .noneOf([.text("1")])), false),
            (.init("n", .unsupported("insidePolygon")), false), (.init("n", .lessThan(3)), false),
            (.init("n", .atMost(3)), true), (.init("at", .exists), true),
        ] {
            #expect((Filter([[condition]]).outcome(of: properties, strict: false) == .matches) == holds, "\(condition)")
        }
    }
}
