import SignalboxInApp

// The member `state` of triggers and slots: the client's state as it reports it.

/// The members of the client's state.
extension FormKeys {
    /// Members of a client's `state`.
    /// `busy` and `blocks` keep messages from the screen, `foreground` tells whether there is one, and `smartDelay`
    /// whether the client supports delays of the engine's choice.
    package static let state: [StaticString] = [
        "foreground", "screen", "orientation", "platform", "templates", "assets", "busy", "blocks", "blockedVendors",
        "visible", "topics", "smartDelay", "zone",
    ]
}

/// The state of a device and its screen. Every member is optional. An absent `screen`, `platform` or `zone` stays as
/// the device reported it last; a session start forgets the screen. Any other absent member means that the client does
/// not know, and checks of it pass or use a default.
extension ClientState {
    /// Nil without the member `state`. Without `foreground`, the app is in the foreground.
    /// `assets` maps each name to `unknown`, `loading`, `ready` or `failed`. `visible` lists visible elements,
    /// `topics` the subscriptions of the person. `zone` decides when the person's day begins. Throws the first
    /// mistake.
    static func read(of form: FormObject) throws(FormFault) -> ClientState? {
        guard let object = try form.object("state", FormKeys.state) else { return nil }
        var state = ClientState(foreground: try object.flag("foreground") ?? true, screen: try object.text("screen"))
        state.orientation = try object.choice("orientation", [Orientation.portrait, .landscape])
        state.platform = try object.choice("platform", [Platform.ios, .android, .web, .roku])
        state.templates = try object.names("templates", upTo: Bounds.listElements)
        if let assets = object["assets"] {
            let states = [Asset.unknown, .loading, .ready, .failed]
            state.assets = try FormObject.map(
                assets, at: object.pointer("assets"), upTo: Bounds.listElements * 10, length: FormBounds.asset
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
    /// Repeated names count once.
    fileprivate func names(_ key: StaticString, upTo limit: Int) throws(FormFault) -> Set<String>? {
        try texts(key, upTo: limit).map { Set($0) }
    }
}
