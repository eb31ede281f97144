import SignalboxJSON
import Testing

@testable import SignalboxNotification

@Suite struct CoercionTests {
    @Test(arguments: ["true", "1", "2.5", "-1", "\"1\"", "\"true\"", "\"YES\"", "\"y\"", "\"T\"", "\" +07\""])
    func appleTakesForTrue(_ json: String) throws {
        #expect(try with(json) { $0.appleFlag })
    }

    @Test(arguments: [
        "false", "0", "0.0", "null", "{}", "[1]", "\"\"", "\"0\"", "\"no\"", "\"false\"", "\"-0\"", "\" x1\"",
    ])
    func appleTakesForFalse(_ json: String) throws {
        #expect(try with(json) { !$0.appleFlag })
    }

    @Test(arguments: [
        ("true", true), ("\"true\"", true), ("\"TRUE\"", true), ("\"1\"", false), ("1", false), ("null", false),
    ])
    func androidComparesWords(_ json: String, _ flag: Bool) throws {
        #expect(try with(json) { $0.androidFlag } == flag)
    }

    @Test(
        arguments: [
            ("3", 3), ("3.0", 3), ("\"3\"", 3), ("\"-4\"", -4), ("\"5.571215811412e+15\"", 5_571_215_811_412_000),
            ("5.571215811412e+15", 5_571_215_811_412_000), ("3.5", nil), ("\"3.5\"", nil), ("\"\"", nil), ("true", nil),
            ("\"1e999\"", nil), ("18446744073709551615", nil), ("[3]", nil),
        ] as [(String, Int64?)])
    func numbersAreReadFromTheirText(_ json: String, _ number: Int64?) throws {
        #expect(try with(json) { $0.number } == number)
    }

    @Test(
        arguments: [
            ("\"id\"", "id"), ("7", "7"), ("18446744073709551615", "18446744073709551615"), ("5.5e+3", "5500"),
            ("1.5", "1.5"), ("true", "true"), ("\"\"", nil), ("null", nil), ("{}", nil),
        ] as [(String, String?)])
    func identifiersAreTextOrNumbers(_ json: String, _ text: String?) throws {
        #expect(try with(json) { $0.scalarText } == text)
    }

    @Test(
        arguments: [
            ("0.75", 0.75), ("\"0.75\"", 0.75), ("100", 100), ("\"1e999\"", nil), ("\"nan\"", nil), ("\"high\"", nil),
            ("true", nil), ("null", nil),
        ] as [(String, Double?)])
    func fractionsAreReadFromTheirText(_ json: String, _ number: Double?) throws {
        #expect(try with(json) { $0.decimal } == number)
    }

    @Test(
        arguments: [
            ("\"2026-12-01T00:00:00Z\"", "2026-12-01T00:00:00.000Z"), ("1796083200", "2026-12-01T00:00:00.000Z"),
            ("1796083200000", "2026-12-01T00:00:00.000Z"), ("\"1796083200500\"", "2026-12-01T00:00:00.500Z"),
            ("1796083200.75", "2026-12-01T00:00:00.000Z"), ("99999999999", "5138-11-16T09:46:39.000Z"),
            ("100000000000", "1973-03-03T09:46:40.000Z"), ("0", nil), ("-1", nil), ("\"0\"", nil),
            ("\"2026-12-01\"", nil), ("\"soon\"", nil), ("\"\"", nil), ("true", nil), ("1e300", nil),
            ("9223372036854775807", nil), ("{}", nil), ("null", nil),
        ] as [(String, String?)])
    func instantsAreISO8601OrSecondsOrMilliseconds(_ json: String, _ text: String?) throws {
        #expect(try with(json) { $0.instant?.text } == text)
    }

    @Test func parsesAJSONTextOnceAndNotTheTextsInsideIt() throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let root = try parser.parse(Array(#"{"a":" {\"b\":\"{}\"}","c":"{no","d":"[1]","e":{"f":1}}"#.utf8))
            let object = try #require(parser.object(root["a"]))
            let again = try #require(parser.object(root["a"]))
            #expect(object.isSamePlace(as: again))
            #expect(object["b"]?.isString == true)
            #expect(parser.object(root["c"])?.kind == nil)
            #expect(parser.object(root["d"])?.kind == nil)
            #expect(parser.object(root["e"])?["f"]?.integer == 1)
            #expect(parser.strings(root["d"]) == ["1"])
        }
    }

    private func with<Result>(_ json: String, _ body: (JSONValue) -> Result) throws -> Result {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) { body(try parser.parse(Array(json.utf8))) }
    }
}
