import SignalboxJSON
import Testing

@testable import SignalboxNotification

@Suite struct ArgumentSchemaTests {
    @Test func argumentsThatAreAsTheyShouldBeHaveNoProblems() throws {
        #expect(try problems(#"{"sku": "A1", "count": 3, "price": 1.5, "gift": true, "tags": ["a"]}"#) == [])
        // MCE's Android SDK makes strings of all arguments, and others may be there too.
        #expect(try problems(#"{"sku": "A1", "count": "3", "price": "1.5", "gift": "true", "more": {}}"#) == [])
        #expect(try problems(#"{"sku": "A1", "gift": null}"#) == [])
    }

    @Test func saysWhichArgumentIsMissing() throws {
        #expect(try problems("{}") == ["action.argument-missing /arguments"])
        #expect(try problems(nil) == ["action.argument-missing /arguments"])
        #expect(try problems(#"{"sku": null}"#) == ["action.argument-missing /arguments"])
    }

    @Test(arguments: [
        (#"{"sku": []}"#, "sku"), (#"{"sku": "A1", "count": "three"}"#, "count"),
        (#"{"sku": "A1", "count": 1.5}"#, "count"),
        (#"{"sku": "A1", "price": {}}"#, "price"), (#"{"sku": "A1", "gift": "yes"}"#, "gift"),
        (#"{"sku": "A1", "tags": "a"}"#, "tags"), (#"{"sku": "A1", "tags": ["a", [1]]}"#, "tags/1"),
        (#"{"sku": "A1", "price": "inf"}"#, "price"), (#"{"sku": "A1", "count": "0x1"}"#, "count"),
    ])
    func saysWhatIsOfAnotherType(_ arguments: String, place: String) throws {
        #expect(try problems(arguments) == ["action.argument-wrong-type /arguments/\(place)"])
    }

    @Test(arguments: [
        (#"{"sku": "A"}"#, "sku"), (#"{"sku": "A12345"}"#, "sku"), (#"{"sku": "A1", "count": 0}"#, "count"),
        (#"{"sku": "A1", "count": "11"}"#, "count"),
    ])
    func reportsAValueOutOfRange(_ arguments: String, place: String) throws {
        #expect(try problems(arguments) == ["action.argument-out-of-range /arguments/\(place)"])
    }

    @Test func reportsAValueOutsideTheChoices() throws {
        #expect(try problems(#"{"sku": "A1", "size": "XL"}"#) == ["action.argument-not-allowed /arguments/size"])
        #expect(try problems(#"{"sku": "A1", "size": "S"}"#) == [])
    }

    @Test func theValueCountsAsAnArgument() throws {
        var schema = ArgumentSchema(.object)
        schema.properties["value"] = ArgumentSchema(.integer)
        schema.required = ["value"]
        #expect(try problems(nil, value: "12", schema) == [])
        #expect(try problems("{}", value: "abc", schema) == ["action.argument-wrong-type /value"])
        #expect(try problems(nil, value: nil, schema) == ["action.argument-missing /arguments"])
    }

    private func problems(
        _ arguments: String?, value: String? = nil, _ schema: ArgumentSchema = Self.product
    ) throws -> [String] {
        var types = ActionTypes()
        var type = ActionTypes.CustomType()
        type.arguments = schema
        types.custom["viewProduct"] = type
        let parser = JSONParser()
        let text = try arguments.map { JSONText(try parser.parse(Array($0.utf8))) }
        let action = Action(.custom, value: value, vendorType: "viewProduct", arguments: text)
        return types.problems(with: action, options: nil).map { "\($0.code.rawValue) \($0.path)" }
    }

    private static var product: ArgumentSchema {
        var schema = ArgumentSchema(.object)
        schema.required = ["sku"]
        var sku = ArgumentSchema(.string)
        (sku.minLength, sku.maxLength) = (2, 5)
        var count = ArgumentSchema(.integer)
        (count.minimum, count.maximum) = (1, 10)
        var size = ArgumentSchema(.string)
        size.allowed = ["S", "M"]
        var tags = ArgumentSchema(.array)
        tags.items = [ArgumentSchema(.string)]
        schema.properties = [
            "sku": sku, "count": count, "size": size, "tags": tags, "price": ArgumentSchema(.number),
            "gift": ArgumentSchema(.boolean),
        ]
        return schema
    }
}
