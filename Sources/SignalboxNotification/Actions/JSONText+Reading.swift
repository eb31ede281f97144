import SignalboxJSON

extension JSONText {
    /// Hands the value over to be read in place; nil when it cannot be read.
    func withValue<Result>(_ body: (JSONValue) -> Result?) -> Result? {
        // Values look into the parser's memory, which is gone after its last use.
        let parser = JSONParser()
        return withExtendedLifetime(parser) {
            do { return body(try parser.parse(bytes)) } catch { return nil }
        }
    }
}
