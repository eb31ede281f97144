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

extension JSONValue {
    /// Text that is not empty, or a number or boolean as text: FCM delivers every value as a string, whatever the
    /// sender wrote.
    var spelled: String? {
        switch kind {
        case .string: string.flatMap { $0.isEmpty ? nil : $0 }
        case .integer, .unsigned, .double:
            integer.map { String($0) } ?? unsigned.map { String($0) } ?? double?.description
        case .bool: bool == true ? "true" : "false"
        case .object, .array, .null: nil
        }
    }
}
