/// Parsing for callers with an error of their own.
extension JSONParser {
    /// ``parse(_:)`` for borrowed bytes, with an error of the caller.
    package func parse<Failure: Error>(
        _ text: UnsafeBufferPointer<UInt8>, orThrow failure: (JSONError) -> Failure
    ) throws(Failure) -> JSONValue {
        do throws(JSONError) { return try parse(text) } catch { throw failure(error) }
    }

    /// ``parse(_:)`` with an error of the caller.
    package func parse<Failure: Error>(
        _ text: [UInt8], orThrow failure: (JSONError) -> Failure
    ) throws(Failure) -> JSONValue {
        do throws(JSONError) { return try parse(text) } catch { throw failure(error) }
    }
}
