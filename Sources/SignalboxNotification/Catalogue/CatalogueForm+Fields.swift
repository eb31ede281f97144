import SignalboxJSON

// The fields of an entry. Each object has a table of the keys whose values are paths.

/// An unknown key is a mistake, so a mistyped key cannot silently leave a field empty.
extension CatalogueForm {
    /// The keys of an object whose values are paths, with their fields.
    private typealias PathTable<Fields> = KeyValuePairs<StaticString, WritableKeyPath<Fields, CataloguePaths>>

    /// Fills the paths of an object, and records unknown keys. `others`: keys that the caller reads. Nil for a value
    /// that is not an object. A key that is missing leaves its list of paths empty.
    private mutating func filled<Fields>(
        _ empty: Fields, from value: JSONValue, _ table: PathTable<Fields>, and others: [String] = []
    ) -> Fields? {
        guard isObject(value, keys: table.map { $0.key.description } + others) else { return nil }
        var fields = empty
        for (key, field) in table { fields[keyPath: field] = paths(key, of: value) }
        return fields
    }

    /// The fields of an entry; leaves out those with a mistake. Fields that could not be read are empty, and their
    /// mistakes are recorded.
    mutating func fields(_ value: JSONValue) -> CatalogueFields {
        let filled = filled(
            CatalogueFields(), from: value,
            [
                "title": \.title, "subtitle": \.subtitle, "body": \.body, "sound": \.sound, "badge": \.badge,
                "threadId": \.threadId, "interruptionLevel": \.interruptionLevel, "channel": \.channel,
                "category": \.category, "tag": \.tag, "vendorKind": \.vendorKind, "link": \.tap.link,
                "webView": \.tap.webView, "richContent": \.tap.richContent, "word": \.tap.word,
                "arguments": \.tap.arguments, "secrets": \.secrets, "tokens": \.tokens, "custom": \.custom,
                "base64": \.base64,
            ],
            and: [
                "types", "links", "linkPrefix", "defaultSound", "media", "buttons", "carousel", "campaign", "schedule",
                "shown", "alert", "silent", "control", "liveActivity", "ignored", "trimmed",
            ])
        guard var fields = filled else { return CatalogueFields() }
        fields.tap.types = types("types", of: value)
        fields.tap.links = types("links", of: value)
        fields.linkPrefix = value["linkPrefix"].flatMap { text($0) }
        fields.defaultSound = value["defaultSound"].flatMap { condition($0) }
        for media in objects("media", of: value) { fields.media.append(self.media(media)) }
        for buttons in objects("buttons", of: value) { fields.buttons.append(self.buttons(buttons)) }
        for carousel in objects("carousel", of: value) { fields.carousel.append(self.carousel(carousel)) }
        if let campaign = value["campaign"] { fields.campaign = self.campaign(campaign) }
        if let schedule = value["schedule"] { readSchedule(schedule, &fields) }
        fields.trimsLinks = conditions("trimmed", of: value)
        fields.shown = conditions("shown", of: value)
        fields.alert = conditions("alert", of: value)
        fields.silent = conditions("silent", of: value)
        fields.control = conditions("control", of: value)
        fields.liveActivity = conditions("liveActivity", of: value)
        if let ignored = value["ignored"] { fields.ignored = list(ignored).compactMap { self.ignored($0) } }
        return fields
    }

    /// The meanings of the vendor's words or links: an object from words to types of action. Repeated words are not
    /// reported; the last one counts.
    private mutating func types(_ key: StaticString, of value: JSONValue) -> [String: Action.ActionType] {
        guard let types = value[key] else { return [:] }
        if !types.isObject { record(types, "this must be an object from the vendor's words to types of action") }
        var meanings: [String: Action.ActionType] = [:]
        for (word, type) in types.members {
            guard let known = type.text.flatMap({ Action.ActionType(rawValue: $0) }) else {
                let all = Action.ActionType.allCases.map(\.rawValue)
                record(type, "there is no such type of action; known: \(Self.names(all))")
                continue
            }
            meanings[String(decoding: word, as: UTF8.self)] = known
        }
        return meanings
    }

    /// A field of media. Requires a path of the URL; the role is `attachment` unless it is given.
    private mutating func media(_ value: JSONValue) -> CatalogueFields.MediaField {
        let table: PathTable<CatalogueFields.MediaField> = ["url": \.url, "type": \.type]
        guard var media = filled(.init(), from: value, table, and: ["role", "first"]) else { return .init() }
        let roles = Dictionary(uniqueKeysWithValues: Media.Role.allCases.map { ($0.rawValue, $0) })
        media.role = word("role", of: value, among: roles) ?? .attachment
        media.first = whole("first", of: value, in: 0...1) ?? 0
        if value["url"] == nil { record(value, "\"url\" is missing: the path of an image, audio or video file") }
        return media
    }

    /// A field of buttons. Requires a list, a counted path of the title, or a fixed identifier next to a title.
    private mutating func buttons(_ value: JSONValue) -> CatalogueFields.ButtonsField {
        let table: PathTable<CatalogueFields.ButtonsField> = [
            "list": \.list, "needs": \.needs, "id": \.identifier, "title": \.title, "link": \.tap.link,
            "webView": \.tap.webView, "word": \.tap.word, "arguments": \.tap.arguments,
            "inputButton": \.inputButton, "placeholder": \.placeholder,
        ]
        let others = ["first", "most", "joins", "fixedId", "drops", "types", "links", "options", "textInput"]
        guard var buttons = filled(.init(), from: value, table, and: others) else { return .init() }
        buttons.tap.types = types("types", of: value)
        buttons.tap.links = types("links", of: value)
        buttons.first = whole("first", of: value, in: 0...1) ?? 0
        buttons.most = whole("most", of: value, in: 1...longestList) ?? longestList
        buttons.joins = flag("joins", of: value)
        buttons.fixedIdentifier = value["fixedId"].flatMap { text($0) }
        if buttons.fixedIdentifier != nil {
            buttons.most = 1
            if !buttons.list.isEmpty { record(value, "\"fixedId\" is for a single button; leave out the \"list\"") }
        }
        if let drops = value["drops"] { buttons.drops = list(drops).map { rule($0) } }
        if let options = value["options"] { buttons.options = self.options(options) }
        buttons.textInput = value["textInput"].flatMap { condition($0) }
        if !buttons.hasElements { record(value, "buttons need a \"list\", or a \"title\" with {i} in its path") }
        return buttons
    }

    /// One rule: a single condition, or the conditions under `all`. Empty if all of them have a mistake; an empty rule
    /// drops no button.
    private mutating func rule(_ value: JSONValue) -> [CatalogueCondition] {
        guard value["all"] != nil else { return condition(value).map { [$0] } ?? [] }
        guard isObject(value, keys: ["all"]), let all = value["all"] else { return [] }
        if all.isEmptyContainer { record(all, "there is no condition here; name at least one") }
        return conditions(all)
    }

    /// The conditions under which a button has an option: one, or a list, any of which suffices. The keys are the
    /// names of options in events.
    private mutating func options(_ value: JSONValue) -> [(Category.Options, CatalogueCondition)] {
        guard isObject(value, keys: Category.Options.named.map(\.name)) else { return [] }
        var options: [(Category.Options, CatalogueCondition)] = []
        for (name, option) in Category.Options.named {
            guard let given = value.member(name) else { continue }
            let conditions = given.isArray ? self.conditions(given) : condition(given).map { [$0] } ?? []
            for condition in conditions { options.append((option, condition)) }
        }
        return options
    }

    /// A carousel. Requires a path of the picture, and a list or a counted path.
    private mutating func carousel(_ value: JSONValue) -> CatalogueFields.CarouselField {
        let table: PathTable<CatalogueFields.CarouselField> = [
            "list": \.list, "url": \.url, "caption": \.caption, "subcaption": \.subcaption, "link": \.link,
            "orientation": \.orientation,
        ]
        guard var carousel = filled(.init(), from: value, table, and: ["first"]) else { return .init() }
        carousel.first = whole("first", of: value, in: 0...1) ?? 0
        if carousel.url.isEmpty { record(value, "\"url\" is missing: the path of an item's picture") }
        if !carousel.hasElements { record(value, "a carousel needs a \"list\", or a \"url\" with {i} in its path") }
        return carousel
    }

    /// The identification of the mailing. `numeric`: true if the identifier is a number in several spellings.
    private mutating func campaign(_ value: JSONValue) -> CatalogueFields.CampaignField {
        let table: PathTable<CatalogueFields.CampaignField> = [
            "id": \.id, "name": \.name, "type": \.type, "variant": \.variant, "messageId": \.messageId,
        ]
        guard var campaign = filled(.init(), from: value, table, and: ["numeric"]) else { return .init() }
        campaign.isNumeric = flag("numeric", of: value)
        return campaign
    }

    /// Reads the paths of the period. Requires at least one of them.
    private mutating func readSchedule(_ value: JSONValue, _ fields: inout CatalogueFields) {
        fields = filled(fields, from: value, ["notBefore": \.notBefore, "notAfter": \.notAfter]) ?? fields
        if value.isObject, value.isEmptyContainer {
            record(value, "a schedule has a \"notBefore\", a \"notAfter\" or both")
        }
    }

    /// A path that is not read while a rule holds. Requires both.
    private mutating func ignored(_ value: JSONValue) -> CatalogueFields.IgnoredField? {
        guard isObject(value, keys: ["under", "if"]) else { return nil }
        guard let under = value["under"], let rule = value["if"] else {
            record(value, "this needs \"under\", a path, and \"if\", a condition")
            return nil
        }
        let conditions = self.rule(rule)
        guard let path = path(under), !conditions.isEmpty else { return nil }
        return .init(under: path, conditions: conditions)
    }
}
