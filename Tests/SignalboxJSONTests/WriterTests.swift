import Foundation
import SignalboxJSON
import SignalboxTesting
import Testing

@Suite struct WriterTests {
    private static let seed: UInt64 = 20_261_120

    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The string as Foundation reads it.
    private func decoded(_ bytes: [UInt8]) throws -> String? {
        try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) as? String
    }

    @Test func returnsToAMark() {
        let json = written { json in
            json.beginArray()
            let first = json.mark
            json.bool(true)
            json.rewind(to: first)
            #expect(json.mark == first)
            json.integer(1)
            let second = json.mark
            json.string(String(repeating: "a", count: 5000))
            json.rewind(to: second)
            json.integer(2)
            json.endArray()
        }
        #expect(json == "[1,2]")
    }

    // MARK: Strings

    @Test(arguments: [
        ("", #""""#), ("plain", #""plain""#), ("\"\\/", #""\"\\/""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
        ("\u{0}\u{1}\u{1F}", #""\u0000\u0001\u001f""#), ("\u{7F}é€🎉", "\"\u{7F}é€🎉\""),
    ])
    func escapesForbiddenCharactersOnly(_ text: String, _ expected: String) {
        #expect(written { $0.string(text) } == expected)
    }

    @Test(arguments: 0...17)
    func escapesAtEveryAlignment(_ before: Int) throws {
        for byte in Array(UInt8(0)..<0x20) + [0x22, 0x5C, 0x7F, 0x20, 0x21, 0x23, 0x5B, 0x5D] {
            let scalar = String(Unicode.Scalar(byte))
            for after in 0...9 {
                let text = String(repeating: "a", count: before) + scalar + String(repeating: "b", count: after)
                let bytes = Array(written { $0.string(text) }.utf8)
                #expect(try decoded(bytes) == text, "\(byte) at \(before)")
                #expect(try decoded(Array(written { $0.string(text + text) }.utf8)) == text + text)
            }
        }
    }

    /// Eight bytes are tested together, so bytes above 0x7F come next to bytes to escape.
    @Test(arguments: 0...17)
    func copiesMultibyteCharactersAtEveryAlignment(_ before: Int) throws {
        for scalar in ["\u{80}", "¢", "\u{A0}", "\u{DC}", "é", "\u{7FF}", "€", "\u{FFFF}", "🎉", "\u{10FFFF}"] {
            for neighbour in ["", "\"", "\\", "\u{1F}", "\u{0}"] {
                let text = String(repeating: "a", count: before) + scalar + neighbour + scalar
                #expect(try decoded(Array(written { $0.string(text) }.utf8)) == text)
            }
        }
    }

    @Test func randomStringsReadBack() throws {
        var random = SeededGenerator(seed: Self.seed)
        let parser = JSONParser()
        for _ in 0..<4000 {
            let text = RandomDocument.text(using: &random) + RandomDocument.text(using: &random)
            let bytes = Array(written { $0.string(text) }.utf8)
            // Foundation's reader drops a byte order mark, whose place is the start of a text only.
            if !text.unicodeScalars.contains("\u{FEFF}") { #expect(try decoded(bytes) == text, "seed \(Self.seed)") }
            parser.reset()
            let value = try parser.parse(bytes)
            #expect(value.string.map { Array($0.utf8) } == Array(text.utf8), "seed \(Self.seed)")
        }
    }

    @Test func joinsPartsIntoOneString() {
        #expect(written { $0.string("/a\"", "", "/b\n") } == #""/a\"/b\n""#)
        #expect(written { $0.string("", "", "") } == #""""#)
        let long = String(repeating: "\u{1}", count: 5000)
        #expect(written { $0.string(long, "", long) }.utf8.count == 60_002)
    }

    // MARK: Structure

    @Test func placesCommas() {
        let text = written { json in
            json.beginObject()
            json.key("a")
            json.beginArray()
            json.endArray()
            json.key("b\"")
            json.beginArray()
            json.integer(1)
            json.beginObject()
            json.endObject()
            json.null()
            json.bool(true)
            json.bool(false)
            json.double(0.5)
            json.string("x" as StaticString)
            json.strings(["y", "z"])
            json.endArray()
            json.key("c" as String)
            json.raw(Array("[1, 2]".utf8))
            json.key("d")
            json.string("")
            json.endObject()
        }
        #expect(text == #"{"a":[],"b\"":[1,{},null,true,false,0.5,"x",["y","z"]],"c":[1, 2],"d":""}"#)
    }

    @Test func writesLines() {
        let text = written { json in
            for number in 1...2 {
                json.beginObject()
                json.key("n")
                json.integer(number)
                json.endObject()
                json.newline()
            }
        }
        #expect(text == "{\"n\":1}\n{\"n\":2}\n")
    }

    @Test func startsAgainInTheSameMemory() {
        var writer = JSONWriter()
        var empty = [writer.isEmpty]
        writer.string("first")
        empty.append(writer.isEmpty)
        writer.removeAll()
        empty.append(writer.isEmpty)
        #expect(empty == [true, false, true])
        writer.string("second")
        let bytes = writer.bytes
        #expect(String(decoding: bytes, as: UTF8.self) == "\"second\"")
    }

    /// From no memory or exactly enough, in small and in large steps.
    @Test(arguments: [0, 1, 2, 7, 64, 255, 256, 257])
    func growsAsNeeded(_ capacity: Int) {
        for length in [0, 1, 41, 42, 43, 255, 256, 257, 5000] {
            var writer = JSONWriter(reservingCapacity: capacity)
            writer.beginArray()
            for _ in 0..<50 { writer.string(String(repeating: "\u{1}", count: length)) }
            for number in 0..<300 { writer.integer(number) }
            writer.endArray()
            let strings = 50 * (length * 6 + 3)
            let numbers = 10 + 90 * 2 + 200 * 3 + 300
            let count = writer.bytes.count
            #expect(count == 1 + strings + numbers)
        }
    }

    // MARK: Numbers

    @Test(arguments: [
        Int64.min, -10, -1, 0, 1, 9, 10, 99, 100, 999_999_999_999_999_999, 1_000_000_000_000_000_000, .max,
    ])
    func writesIntegersInFull(_ number: Int64) {
        #expect(written { $0.integer(number) } == String(number))
        #expect(written { $0.integer(UInt64.max) } == "18446744073709551615")
    }

    @Test func doublesReadBack() throws {
        var random = SeededGenerator(seed: Self.seed)
        let special: [Double] = [
            0, -0.0, 1, -1, 0.1, 1.0 / 3, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, 1e15,
            1e16, 1e17,
            1e21, 123_456_789.5, 9_007_199_254_740_992, .pi,
        ]
        let parser = JSONParser()
        let numbers = special + (0..<5000).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
        for number in numbers {
            parser.reset()
            let text = written { $0.double(number) }
            let value = try parser.parse(Array(text.utf8))
            #expect(value.kind == .double)
            #expect(value.double?.bitPattern == number.bitPattern, "\(text), seed \(Self.seed)")
        }
    }

    // MARK: Values

    @Test(arguments: RandomDocument.Layout.allCases)
    func documentsReadBack(_ layout: RandomDocument.Layout) throws {
        var random = SeededGenerator(seed: Self.seed)
        for _ in 0..<500 {
            let document = RandomDocument.value(using: &random, depth: 5)
            let parser = JSONParser()
            try withExtendedLifetime(parser) {
                let first = JSONText(try parser.parse(document.text(layout)))
                let second = JSONText(try parser.parse(first.bytes))
                #expect(first == second, "seed \(Self.seed)")
                #expect(try JSONDifference.lines(expected: document.text(.minified), actual: first.bytes).isEmpty)
            }
        }
    }
}
