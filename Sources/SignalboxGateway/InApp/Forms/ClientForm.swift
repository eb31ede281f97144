import Foundation
import SignalboxInApp
import SignalboxJSON

// The member `state` of triggers and slots: the client's state as it reports it.

extension FormKeys {
    /// Of a client's `state`.
    package static let state: [StaticString] = [
        "foreground", "screen", "orientation", "platform", "templates", "assets", "busy", "blocks", "blockedVendors",
        "visible", "topics", "smartDelay", "zone",
    ]
}

extension ClientState {
    /// Nil without the member `state`. Without `foreground`, the app is in the foreground.
    static func read(of form: FormObject) throws(FormFault) -> ClientState? {
        guard let object = try form.object("state", FormKeys.state) else { return nil }
        var state = ClientState(
            foreground: try object.flag("foreground") ?? true, screen: try object.text("screen"))
        state.orientation = try object.choice("orientation", [Orientation.portrait, .landscape])
        state.platform = try object.choice("platform", [Platform.ios, .android, .web, .roku])
        state.templates = try object.names("templates", upTo: Bounds.listElements)
        if let assets = object["assets"] {
            let states = [Asset.unknown, .loading, .ready, .failed]
            state.assets = try FormObject.map(
                assets, at: object.pointer("assets"), upTo: Bounds.listElements * 10,
                length: FormBounds.asset
            ) { (value, pointer) throws(FormFault) in try FormObject.choice(value, at: pointer, states) }
        }
        state.isBusy = try object.flag("busy") ?? false
        state.blocks = try object.flag("blocks") ?? false
        state.blockedVendors = try object.names("blockedVendors", upTo: Bounds.listElements) ?? []
        state.visible = try object.names("visible", upTo: Bounds.listElements)
        state.topics = try object.names("topics", upTo: Bounds.listElements * 10)
        state.smartDelay = try object.flag("smartDelay") ?? true
        state.zone = try object.zone("zone")
        return state
    }
}

extension FormObject {
    fileprivate func names(_ key: StaticString, upTo limit: Int) throws(FormFault) -> Set<String>? {
        try texts(key, upTo: limit).map { Set($0) }
    }
}
