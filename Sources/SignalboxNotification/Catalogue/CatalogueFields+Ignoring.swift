import SignalboxJSON

extension CatalogueFields {
    /// Forgets every path that leads through a certain one.
    mutating func ignore(_ path: CataloguePath) {
        for field in [
            \CatalogueFields.title, \.subtitle, \.body, \.sound, \.badge, \.channel, \.category, \.tag, \.vendorKind,
            \.tap.link, \.tap.webView,
            \.tap.word, \.tap.arguments, \.campaign.id, \.campaign.name, \.campaign.type, \.campaign.variant,
            \.campaign.messageId, \.schedule.notBefore, \.schedule.notAfter, \.custom,
        ] { self[keyPath: field].removeAll { $0.leads(through: path) } }
        for position in media.indices { media[position].url.removeAll { $0.leads(through: path) } }
        for position in buttons.indices { buttons[position].list.removeAll { $0.leads(through: path) } }
        for position in carousel.indices { carousel[position].list.removeAll { $0.leads(through: path) } }
        // Without a list, what is left would be taken for parts whose keys count up.
        buttons.removeAll { $0.list.isEmpty && !($0.title + $0.identifier).contains(where: \.isCounted) }
        carousel.removeAll { $0.list.isEmpty && !$0.url.contains(where: \.isCounted) }
    }
}

extension CataloguePath {
    fileprivate func leads(through path: CataloguePath) -> Bool {
        (path.place == .anywhere || path.place == place) && tokens.starts(with: path.tokens)
    }
}
