import SignalboxNotification
import Testing

@Suite struct SpellingTests {
    private static let known = ["crm", "timeout", "destinations", "maps", "größe"]

    @Test(arguments: [
        ("crn", "crm"), ("CRM", "crm"), ("cr", "crm"), ("timeot", "timeout"), ("timeuot", "timeout"),
        ("destination", "destinations"), ("distanations", "destinations"), ("amps", "maps"), ("grösse", "größe"),
        ("cmr", "crm"), ("rcm", "crm"),
    ])
    func suggestsTheNearestWord(_ word: String, _ nearest: String) {
        #expect(Spelling.nearest(to: word, among: Self.known) == nearest)
    }

    @Test(arguments: ["", "abc", "crmsystem", "timer", "stations", "x", "mrc"])
    func suggestsNoWordThatIsFar(_ word: String) {
        #expect(Spelling.nearest(to: word, among: Self.known) == nil)
    }

    @Test func prefersTheNearestAndThenTheFirst() {
        #expect(Spelling.nearest(to: "routes", among: ["router", "routes", "route"]) == "routes")
        #expect(Spelling.nearest(to: "routez", among: ["router", "routes"]) == "router")
        #expect(Spelling.nearest(to: "ruotes", among: ["rotes", "routes", "quotes"]) == "rotes")
    }

    /// A third of a long word would be no misspelling.
    @Test func aSuggestionDiffersInAtMostEightBytes() {
        let word = String(repeating: "a", count: 90)
        for count in 1...12 {
            let longer = word + String(repeating: "b", count: count)
            let other = String(repeating: "c", count: count) + String(word.dropFirst(count))
            #expect((Spelling.nearest(to: word, among: [longer]) == longer) == (count <= 8), "\(count)")
            #expect((Spelling.nearest(to: word, among: [other]) == other) == (count <= 8), "\(count)")
        }
    }

    @Test func wordsOfAnotherLengthDoNotCount() {
        let others = (0..<5_000).map { "a-much-longer-name-\($0)" }
        #expect(Spelling.nearest(to: "timeot", among: others + ["timeout"]) == "timeout")
    }

    @Test func comparesTheFirstThousandWords() {
        let others = (0..<1_000).map { "q\(1_000 + $0)zz" }
        #expect(Spelling.nearest(to: "timeot", among: Array(others.dropLast()) + ["timeout"]) == "timeout")
        #expect(Spelling.nearest(to: "timeot", among: others + ["timeout"]) == nil)
    }
}
