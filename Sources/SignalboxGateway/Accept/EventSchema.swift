/// The JSON Schemas of what the gateway sends.
package enum EventSchema {
    /// Names as `signalbox schema` takes them.
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
