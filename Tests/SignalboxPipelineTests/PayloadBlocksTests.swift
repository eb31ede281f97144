import SignalboxGateway
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct PayloadBlocksTests {
    private let pipeline = TestPipeline()

    private func expect(
        _ input: String, _ expected: [String], at location: SourceLocation = #_sourceLocation
    ) {
        for chunk in [Int.max, 1, 5] {
            let summary = pipeline.read(input, chunk: chunk).map(\.summary)
            #expect(summary == expected, "\(chunk) bytes at a time", sourceLocation: location)
        }
        let paused = pipeline.read(input, upTo: .zero).map(\.summary)
        #expect(paused == expected, "one event in each call", sourceLocation: location)
    }

    @Test func everyLayoutGivesTheSameEvents() {
        let payload = #"{"aps":{"alert":"x"}}"#
        let events = [String](repeating: "unknown/alert", count: 3)
        expect("\(payload)\n\(payload)\n\(payload)\n", events)
        expect("[\(payload),\(payload),\(payload)]", events)
        expect("\(payload)\(payload) \(payload)", events)
        expect("{\n  \"aps\": {\n    \"alert\": \"x\"\n  }\n}\n\(payload)\r\n\r\n\(payload)", events)
        expect("\(payload) \(payload)\n\(payload)\n", events)
        expect("", [])
        expect("[]", [])
        expect(" \n\n", [])
    }

    @Test func aBadPayloadDoesNotAffectItsNeighbours() {
        let good = #"{"aps":{"alert":"x"}}"#
        expect(
            "\(good)\n{\"a\":\n\(good)\nnope\n[1]\n\(good)\n{\"a\":1e999}\n\(good)\n{\"a\":\"\n\(good)\n7\n\(good)",
            [
                "unknown/alert", "2 payload-truncated", "unknown/alert", "4 payload-not-json",
                "5 payload-not-an-object", "unknown/alert", "7 payload-number-invalid", "unknown/alert",
                "9 payload-truncated", "unknown/alert", "11 payload-not-an-object", "unknown/alert",
            ])
        expect(
            "[\(good),\n1,\n{\"a\":tru},\n\(good)\n,,\(good)",
            [
                "unknown/alert", "2 payload-not-an-object", "3 payload-not-json", "unknown/alert",
                "5 payload-not-json", "unknown/alert", "5 payload-truncated",
            ])
        expect(
            "\(good)}\n\(good)]\(good)",
            [
                "unknown/alert", "1 payload-not-json", "unknown/alert", "2 payload-not-json", "unknown/alert",
            ])
    }

    /// A line that arrives whole is parsed before its brackets are counted, others afterwards.
    @Test func aDamagedPayloadHasOneErrorForAllChunks() {
        let good = #"{"aps":{"alert":"x"}}"#
        let deep = "{\"a\":" + String(repeating: "[", count: 300) + "}"
        for (damaged, code) in [
            (#"{"a":{"b":}"#, "payload-not-json"), (#"{"a":{"b":1}"#, "payload-truncated"),
            (#"{"a":"b}"#, "payload-truncated"), (deep, "payload-too-deep"),
        ] {
            let rejected = "1 \(code)"
            expect(damaged, [rejected])
            expect("\(damaged)\n\(good)", [rejected, "unknown/alert"])
            let details = [Int.max, 1].map { chunk in
                pipeline.read("\(damaged)\n\(good)", chunk: chunk).compactMap { $0.rejection?.message }
            }
            #expect(details[0] == details[1])
        }
    }

    @Test func aTooLargePayloadDoesNotAffectItsNeighbours() {
        let good = #"{"aps":{"alert":"x"}}"#
        let large = "{\"a\":\"" + String(repeating: "x", count: Normalizer.payloadLimit) + "\"}"
        for input in ["\(good)\n\(large)\n\(good)\n", "[\(good),\n\(large),\(good)]", "\(good)\n\(large)\(good)"] {
            let summary = pipeline.read(input, chunk: 1 << 20).map(\.summary)
            #expect(summary == ["unknown/alert", "2 payload-too-large", "unknown/alert"])
        }
    }

    @Test func placesAreThoseOfTheWholeInput() {
        let results = pipeline.read("{\"aps\":{}}\n\n {\"aps\":{}} x\n{\"aps\":{}}7\n", chunk: 4)
        #expect(
            results.compactMap(\.rejection).map(\.place) == [
                PayloadPosition(line: 3, offset: 24), PayloadPosition(line: 4, offset: 36),
            ])
    }

    @Test func aRejectionHasThePositionInThePayload() {
        let messages = pipeline.read("{\n \"a\": 1,\n \"b\": oops\n}\n{\"a\":1}}\n{\"c\": [1}\n").compactMap(
            \.rejection?.message)
        #expect(
            messages == [
                "This is not JSON at line 3, column 7: correct it there.",
                "This is not JSON: send a JSON object.",
                "This is not JSON at line 1, column 9 of the payload: correct it there.",
            ])
    }

    /// Valid and damaged lines in random order: every valid line becomes an event.
    @Test func readsValidLinesBetweenInvalidOnes() {
        let seed: UInt64 = 20_261_120
        var random = SeededGenerator(seed: seed)
        let damaged = [
            "{", "{\"a\":\"", "x", "{\"a\":1,", "{\"a\":[1,", "}", "{}}", "[{}]", "\"", "{\"a\":{}", "{\"a\":\\", "",
        ]
        for _ in 0..<300 {
            let lines = (0..<12).map { number in
                Bool.random(using: &random)
                    ? "{\"aps\":{\"alert\":\"\(number)\"}}" : damaged.randomElement(using: &random) ?? ""
            }
            let sound = lines.filter { $0.hasPrefix("{\"aps\"") }
            let chunk = Int.random(in: 1...40, using: &random)
            let events = pipeline.read(lines.joined(separator: "\n"), chunk: chunk).compactMap { try? $0.get() }
            #expect(events.count { $0.kind == .alert && $0.warnings.isEmpty } >= sound.count, "seed \(seed), \(lines)")
        }
    }
}
