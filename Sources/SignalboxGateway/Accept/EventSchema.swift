/// The JSON Schemas of events.
package enum EventSchema {
    /// Names for `signalbox schema`.
    package static let names = ["notification", "interaction"]

    /// The schema's text; nil for an unknown name.
    package static func text(named name: String) -> [UInt8]? {
        switch name {
        case "notification": PackageResources.notification_1_json
        case "interaction": PackageResources.interaction_1_json
        default: nil
        }
    }
}
