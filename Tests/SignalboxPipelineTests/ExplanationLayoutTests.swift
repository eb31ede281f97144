import SignalboxNotification
import SignalboxRouting
import Testing

@testable import SignalboxGateway

/// The event in the output of `explain`.
@Suite struct ExplanationLayoutTests {
    private let pipeline = TestPipeline()

    @Test func aMemberHasALine() {
        let json = #"{"b":{"y":[1,{"x":"a, {b}: \"c\\"}],"e":[],"o":{}},"a":1.10,"k":"\\","z":null}"#
        #expect(
            Explanation.indented(Array(json.utf8)) == #"""
                {
                  "b" : {
                    "y" : [
                      1,
                      {
                        "x" : "a, {b}: \"c\\"
                      }
                    ],
                    "e" : [],
                    "o" : {}
                  },
                  "a" : 1.10,
                  "k" : "\\",
                  "z" : null
                }
                """#)
    }

    @Test(arguments: [("[]", "[]"), ("{}", "{}"), (#""[,]""#, #""[,]""#), ("[ [\n] , 7 ]", "[\n  [],\n  7\n]")])
    func otherTextsKeepTheirTokens(json: String, shown: String) {
        #expect(Explanation.indented(Array(json.utf8)) == shown)
    }

    /// Strings of Swift with these keys are equal.
    @Test func equivalentKeysAreShown() throws {
        let explanation = Explanation(
            pipeline.normalizer, chain: VendorChain(), routes: RouteTable(routes: [], fallback: []),
            as: pipeline.reception)
        var sections: [String] = []
        let payload = #"{"aps":{"alert":"x"},"z":10000000000000001,"\u00e9":1,"e\u0301":2}"#
        try explanation.explain(Array(payload.utf8)) { sections.append($0) }
        #expect(sections.count == 3)
        let shown = Array(sections[1].utf8)
        for line in ["\n      \"\u{e9}\" : 1", "\n      \"e\u{301}\" : 2", "\n      \"z\" : 10000000000000001"] {
            #expect(shown.firstRange(of: Array(line.utf8)) != nil, "\(sections[1])")
        }
        #expect(sections[1].hasPrefix("\nEvent\n{\n  \"specversion\" : \"1.0\",\n  \"id\" : "))
    }
}
