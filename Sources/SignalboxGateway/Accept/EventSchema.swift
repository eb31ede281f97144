/// The JSON Schemas of events and of in-app messages. The schemas are resources of this target and have version 1.
package enum EventSchema {
    /// Names for `signalbox schema`.
    package static let names = ["notification", "interaction", "inapp", "inapp-event", "push"]

    /// The schema's text; nil for an unknown name. Draft 2020-12, as UTF-8.
    package static func text(named name: String) -> [UInt8]? {
        switch name {
        case "notification": PackageResources.notification_1_json
        case "interaction": PackageResources.interaction_1_json
        // The form of a message, and the events about it.
        case "inapp": PackageResources.message_1_json
        case "inapp-event": PackageResources.inapp_1_json
        // The answers to forwarded pushes.
        case "push": PackageResources.push_1_json
        default: nil
        }
    }
}
