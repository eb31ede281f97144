import SignalboxJSON
import Testing

@Suite struct JSONPointerTests {
    /// The document of RFC 6901, section 5.
    private let document = #"""
        { "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8 }
        """#

    private func found(_ pointer: String, in text: String) throws -> String? {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) {
            let root = try parser.parse(Array(text.utf8))
            return try #require(JSONPointer(pointer)).value(in: root).map { JSONText($0).string }
        }
    }

    @Test(arguments: [
        ("/foo", #"["bar","baz"]"#), ("/foo/0", #""bar""#), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"), ("/e^f", "3"),
        ("/g|h", "4"), (#"/i\j"#, "5"), (#"/k"l"#, "6"), ("/ ", "7"), ("/m~0n", "8"),
    ]) func followsTheExamplesOfRFC6901(pointer: String, value: String) throws {
        #expect(try found(pointer, in: document) == value)
    }

    @Test func emptyPointerLeadsToTheRoot() throws {
        #expect(try found("", in: #"{"a":[1]}"#) == #"{"a":[1]}"#)
    }

    @Test(arguments: [
        "/bar", "/foo/2", "/foo/-", "/foo/-1", "/foo/+1", "/foo/01", "/foo/1e0", "/foo/", "/foo/0/0", "/foo/bar",
        "/foo/99999999999999999999", "/ /a", "//",
    ]) func isNilForMissingValues(pointer: String) throws {
        #expect(try found(pointer, in: document) == nil)
    }

    @Test(arguments: ["foo", " /foo", "#/foo", "/~", "/~2", "/a~", "/~~"]) func rejectsInvalidPointers(text: String) {
        #expect(JSONPointer(text) == nil)
    }

    @Test func unescapesOnce() throws {
        #expect(try found("/~01", in: #"{"~1":1,"/":2}"#) == "1")
        #expect(try found("/~1~0", in: #"{"/~":1}"#) == "1")
    }

    @Test(arguments: ["", "a", "a/b", "m~n", "~1", "/", "~", "ü\u{301}/\u{301}"]) func findsEscapedKeys(
        key: String
    ) throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let root = try parser.parse(Array(#"{"\#(key)":1}"#.utf8))
            let pointer = try #require(JSONPointer("/" + JSONPointer.escape(key)))
            #expect(pointer.value(in: root)?.integer == 1)
        }
    }
}
