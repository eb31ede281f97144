import Foundation
import SignalboxJSON
import SignalboxNotification

extension JSONWriter {
    /// Writes a notification's event once more, as an event of its own that says of which one it is the return, the first
    /// of all where it was put off more than once: a receiver that knows that must not take it for a repeat.
    mutating func snoozed(_ event: JSONValue, id: EventID, at time: Date) {
        beginObject()
        for (key, value) in event.members where !key.equals("snoozedfrom") {
            self.key(utf8: key)
            if key.equals("id") {
                self.id(id)
            } else if key.equals("time") {
                string(Timestamp(time).text)
                if let first = (event["snoozedfrom"] ?? event["id"])?.string {
                    self.key("snoozedfrom")
                    string(first)
                }
            } else {
                self.value(value)
            }
        }
        endObject()
    }
}
