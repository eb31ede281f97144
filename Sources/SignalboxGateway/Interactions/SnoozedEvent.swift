import Foundation
import SignalboxJSON
import SignalboxNotification

extension JSONWriter {
    /// Writes a notification's event as a new event. `snoozedfrom` is the id of the first event, also after several
    /// snoozes: a receiver must not treat the new event as a repeat.
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
