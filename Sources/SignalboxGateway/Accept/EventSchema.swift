internal import CResources

/// The JSON Schemas of events and of in-app messages. The schemas are files of this target, embedded by
/// `CResources`, and have version 1.
package enum EventSchema {
    /// Names for `signalbox schema`.
    package static let names = ["notification", "interaction", "inapp", "inapp-event", "push"]

    /// The schema's text; nil for an unknown name. Draft 2020-12, as UTF-8.
    package static func text(named name: String) -> [UInt8]? {
        let text: UnsafePointer<CChar>? =
            switch name {
            case "notification": sb_notification_1_json()
            case "interaction": sb_interaction_1_json()
            // The form of a message, and the events about it.
            case "inapp": sb_message_1_json()
            case "inapp-event": sb_inapp_1_json()
            // The answers to forwarded pushes.
            case "push": sb_push_1_json()
            default: nil
            }
        return text.map { Array(String(cString: $0).utf8) }
    }
}
