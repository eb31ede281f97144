package import SignalboxJSON
package import SignalboxNotification

extension JSONParser {
    /// Reads an event as it will be delivered; what was read before must not be used any more. Fails when it is too large
    /// to be looked at. For parsers from ``ParserPool/forEvents()``.
    package func read(event: UnsafeBufferPointer<UInt8>, at place: Place) throws(Rejection) -> JSONValue {
        reset()
        do throws(JSONError) {
            return try parse(event)
        } catch {
            // Well-formed for certain: what is left is an event larger than any parser of ours takes.
            throw .eventTooLarge(at: place)
        }
    }

    /// As above, in an array.
    func read(_ event: Event, at place: Place) throws(Rejection) -> JSONValue {
        let result = event.body.withUnsafeBufferPointer { bytes in
            Result { () throws(Rejection) in try read(event: bytes, at: place) }
        }
        return try result.get()
    }
}

extension Rejection {
    static func eventTooLarge(at place: Place) -> Rejection {
        Rejection(.tooLarge, at: place, "The event made of this payload is too large: send less of it.")
    }

    static func tooCostly(at place: Place) -> Rejection {
        Rejection(
            .tooCostly, at: place,
            "Deciding which routes match this payload takes too much work: shorten its arrays and texts.")
    }
}
