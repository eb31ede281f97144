import HTTPTypes
import SignalboxJSON
import SignalboxStore

extension StoredAnswer {
    /// The answer to a batch: 202 when all of it was taken, else 207, with an item for each thing in its order. `write`
    /// writes an item.
    static func batch<Taken, Failure: Error>(
        _ items: [Result<Taken, Failure>], _ write: (inout JSONWriter, Int, Result<Taken, Failure>) -> Void
    ) -> StoredAnswer {
        let rejected = items.count { if case .failure = $0 { true } else { false } }
        var json = JSONWriter(reservingCapacity: 256 * items.count)
        json.beginObject()
        json.key("accepted")
        json.integer(items.count - rejected)
        json.key("rejected")
        json.integer(rejected)
        json.key("items")
        json.beginArray()
        for (position, item) in items.enumerated() { write(&json, position, item) }
        json.endArray()
        json.endObject()
        return StoredAnswer(status: rejected == 0 ? HTTPResponse.Status.accepted.code : 207, body: json.bytes)
    }
}
