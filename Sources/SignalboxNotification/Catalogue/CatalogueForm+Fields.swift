import SignalboxJSON

extension CatalogueForm {
    mutating func fields(_ value: JSONValue) -> CatalogueFields {
        var fields = CatalogueFields()
        let keys = [
            "title", "subtitle", "body", "sound", "badge", "channel", "category", "tag", "vendorKind", "link",
            "webView",
            "word", "types", "arguments", "media", "buttons", "carousel", "campaign", "schedule", "silent", "control",
            "liveActivity", "ignored", "secrets", "tokens", "custom",
        ]
        guard isObject(value, keys: keys) else { return fields }
        readContent(value, &fields)
        fields.vendorKind = paths("vendorKind", of: value)
        fields.tap = tap(value)
        for media in objects("media", of: value) { fields.media.append(self.media(media)) }
        for buttons in objects("buttons", of: value) { fields.buttons.append(self.buttons(buttons)) }
        for carousel in objects("carousel", of: value) { fields.carousel.append(self.carousel(carousel)) }
        if let campaign = value["campaign"] { fields.campaign = self.campaign(campaign) }
        if let schedule = value["schedule"] { fields.schedule = self.schedule(schedule) }
        if let silent = value["silent"] { fields.silent = conditions(silent) }
        if let control = value["control"] { fields.control = conditions(control) }
        if let ignored = value["ignored"] { fields.ignored = list(ignored).compactMap { self.ignored($0) } }
        if let live = value["liveActivity"] { fields.liveActivity = conditions(live) }
        fields.secrets = paths("secrets", of: value)
        fields.tokens = paths("tokens", of: value)
        fields.custom = paths("custom", of: value)
        return fields
    }

    private mutating func readContent(_ value: JSONValue, _ fields: inout CatalogueFields) {
        fields.title = paths("title", of: value)
        fields.subtitle = paths("subtitle", of: value)
        fields.body = paths("body", of: value)
        fields.sound = paths("sound", of: value)
        fields.badge = paths("badge", of: value)
        fields.channel = paths("channel", of: value)
        fields.category = paths("category", of: value)
        fields.tag = paths("tag", of: value)
    }

    private mutating func tap(_ value: JSONValue) -> CatalogueTap {
        var tap = CatalogueTap(link: paths("link", of: value), word: paths("word", of: value))
        tap.webView = paths("webView", of: value)
        tap.arguments = paths("arguments", of: value)
        guard let types = value["types"] else { return tap }
        if !types.isObject { note(types, "this must be an object from the vendor's words to types of action") }
        for (word, type) in types.members {
            guard let known = type.text.flatMap({ Action.ActionType(rawValue: $0) }) else {
                let all = Action.ActionType.allCases.map(\.rawValue)
                note(type, "there is no such type of action; known: \(Self.names(all))")
                continue
            }
            tap.types[String(decoding: word, as: UTF8.self)] = known
        }
        return tap
    }

    private mutating func media(_ value: JSONValue) -> CatalogueFields.MediaField {
        var media = CatalogueFields.MediaField()
        guard isObject(value, keys: ["url", "type", "role", "first"]) else { return media }
        media.url = paths("url", of: value)
        media.type = paths("type", of: value)
        let roles = Dictionary(uniqueKeysWithValues: Media.Role.allCases.map { ($0.rawValue, $0) })
        media.role = word("role", of: value, among: roles) ?? .attachment
        media.first = whole("first", of: value, in: 0...1) ?? 0
        if value["url"] == nil { note(value, "\"url\" is missing: the path of what is to be shown") }
        return media
    }

    private mutating func buttons(_ value: JSONValue) -> CatalogueFields.ButtonsField {
        var buttons = CatalogueFields.ButtonsField()
        let keys = [
            "list", "first", "most", "needs", "drops", "id", "title", "link", "word", "types", "arguments", "options",
            "textInput", "inputButton", "placeholder",
        ]
        guard isObject(value, keys: keys) else { return buttons }
        buttons.list = paths("list", of: value)
        buttons.first = whole("first", of: value, in: 0...1) ?? 0
        buttons.most = whole("most", of: value, in: 1...longestList) ?? longestList
        buttons.needs = paths("needs", of: value)
        if let drops = value["drops"] { buttons.drops = list(drops).map { self.drop($0) } }
        buttons.identifier = paths("id", of: value)
        buttons.title = paths("title", of: value)
        buttons.tap = tap(value)
        if let options = value["options"] { buttons.options = self.options(options) }
        buttons.textInput = value["textInput"].flatMap { condition($0) }
        buttons.placeholder = paths("placeholder", of: value)
        buttons.inputButton = paths("inputButton", of: value)
        let isCounted = (buttons.title + buttons.identifier).contains(where: \.isCounted)
        if buttons.list.isEmpty, !isCounted {
            note(value, "buttons need a \"list\", or a \"title\" with {i} in its path")
        }
        return buttons
    }

    private mutating func drop(_ value: JSONValue) -> [CatalogueCondition] {
        guard value["all"] != nil else { return condition(value).map { [$0] } ?? [] }
        guard isObject(value, keys: ["all"]), let all = value["all"] else { return [] }
        if all.isEmptyContainer { note(all, "there is no condition here; name at least one") }
        return conditions(all)
    }

    private mutating func options(_ value: JSONValue) -> [(Category.Options, CatalogueCondition)] {
        guard isObject(value, keys: ["foreground", "destructive", "authenticationRequired"]) else { return [] }
        var options: [(Category.Options, CatalogueCondition)] = []
        let known: [(StaticString, Category.Options)] = [
            ("foreground", .foreground), ("destructive", .destructive),
            ("authenticationRequired", .authenticationRequired),
        ]
        for (key, option) in known {
            if let condition = value[key].flatMap({ condition($0) }) { options.append((option, condition)) }
        }
        return options
    }

    private mutating func carousel(_ value: JSONValue) -> CatalogueFields.CarouselField {
        var carousel = CatalogueFields.CarouselField()
        let keys = ["list", "first", "url", "caption", "subcaption", "link", "orientation"]
        guard isObject(value, keys: keys) else { return carousel }
        carousel.orientation = paths("orientation", of: value)
        carousel.list = paths("list", of: value)
        carousel.first = whole("first", of: value, in: 0...1) ?? 0
        carousel.url = paths("url", of: value)
        carousel.caption = paths("caption", of: value)
        carousel.subcaption = paths("subcaption", of: value)
        carousel.link = paths("link", of: value)
        if carousel.url.isEmpty { note(value, "\"url\" is missing: the path of an item's picture") }
        if carousel.list.isEmpty, !carousel.url.contains(where: \.isCounted) {
            note(value, "a carousel needs a \"list\", or a \"url\" with {i} in its path")
        }
        return carousel
    }

    private mutating func campaign(_ value: JSONValue) -> CatalogueFields.CampaignField {
        var campaign = CatalogueFields.CampaignField()
        guard isObject(value, keys: ["id", "name", "type", "variant", "messageId", "numeric"]) else { return campaign }
        campaign.id = paths("id", of: value)
        campaign.name = paths("name", of: value)
        campaign.type = paths("type", of: value)
        campaign.variant = paths("variant", of: value)
        campaign.messageId = paths("messageId", of: value)
        if let numeric = value["numeric"] {
            campaign.isNumeric = numeric.bool ?? false
            if numeric.bool == nil { note(numeric, "this must be true or false") }
        }
        return campaign
    }
    private mutating func ignored(_ value: JSONValue) -> CatalogueFields.IgnoredField? {
        guard isObject(value, keys: ["under", "if"]) else { return nil }
        guard let under = value["under"], let condition = value["if"] else {
            note(value, "this needs \"under\", a path, and \"if\", a condition")
            return nil
        }
        guard let path = path(under), let condition = self.condition(condition) else { return nil }
        return .init(under: path, condition: condition)
    }

    private mutating func schedule(_ value: JSONValue) -> CatalogueFields.ScheduleField {
        var schedule = CatalogueFields.ScheduleField()
        guard isObject(value, keys: ["notBefore", "notAfter"]) else { return schedule }
        schedule.notBefore = paths("notBefore", of: value)
        schedule.notAfter = paths("notAfter", of: value)
        if value.isEmptyContainer { note(value, "a schedule has a \"notBefore\", a \"notAfter\" or both") }
        return schedule
    }
}
