/// The JSON Schemas of what the gateway sends.
package enum EventSchema {
    /// Names as `signalbox schema` takes them.
    package static let names = ["notification"]

    /// The schema's text; nil for an unknown name.
    package static func text(named name: String) -> [UInt8]? {
        name == "notification" ? PackageResources.notification_1_json : nil
    }
}
