/// The JSON Schemas of events. The schemas are resources of this target and have version 1.
package enum EventSchema {
    /// Names for `signalbox schema`.
    package static let names = ["notification", "interaction"]

    /// The schema's text; nil for an unknown name. Draft 2020-12, as UTF-8.
    package static func text(named name: String) -> [UInt8]? {
        switch name {
        case "notification": PackageResources.notification_1_json
        case "interaction": PackageResources.interaction_1_json
        default: nil
        }
    }
}
