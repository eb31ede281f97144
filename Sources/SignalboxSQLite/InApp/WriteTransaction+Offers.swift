import GRDB
import SignalboxInApp
import SignalboxStore

/// The offers that decisions change. A device has the numbers of its offers in its row, so both change together.
extension WriteTransaction {
    /// Writes the changed offers. Returns the lists of the devices whose offers were added or removed, which the
    /// caller writes.
    mutating func writeOffers(of changes: [RowChange], _ loaded: LoadedInApp) throws -> [DeviceID: OfferList] {
        var lists: [DeviceID: OfferList] = [:]
        for change in changes {
            switch change {
            case .offer(let offer): try put(offer, loaded, &lists)
            case .removeOffer(let id): try remove(id, loaded, &lists)
            default: break
            }
        }
        return lists
    }

    /// Inserts an offer, or replaces that of the same id, which never moves to another device.
    private mutating func put(_ offer: Offer, _ loaded: LoadedInApp, _ lists: inout [DeviceID: OfferList]) throws {
        let list = try lists[offer.device] ?? list(of: offer.device, loaded)
        if let number = try number(of: offer.id, in: list) {
            return try inApp.statements(.updateOffer, in: db).run { row in
                offer.bindState(&row)
                row.bind(number)
            }
        }
        try inApp.statements(.insertOffer, in: db).run { row in
            offer.bindKey(&row)
            offer.bindState(&row)
        }
        let number = db.lastInsertedRowID
        var longer = list
        longer.numbers.append(number)
        longer.known[offer.id] = number
        lists[offer.device] = longer
    }

    /// No effect for an unknown offer.
    private mutating func remove(_ id: OfferID, _ loaded: LoadedInApp, _ lists: inout [DeviceID: OfferList]) throws {
        var device = loaded.rows.state.device.id
        var number = (lists[device] ?? loaded.offers).known[id]
        if number == nil, let (found, offer) = try inApp.offer(of: id) { (device, number) = (offer.device, found) }
        guard let number else { return }
        try inApp.statements(.removeOffer, in: db).run { $0.bind(number) }
        var shorter = try lists[device] ?? list(of: device, loaded)
        shorter.numbers.remove(number)
        shorter.known[id] = nil
        lists[device] = shorter
    }

    /// Nil for a new offer.
    private mutating func number(of id: OfferID, in list: OfferList) throws -> Int64? {
        if let number = list.known[id] { return number }
        return list.isComplete ? nil : try inApp.offer(of: id)?.number
    }

    /// As the decision loaded it. That of another device is read.
    private mutating func list(of device: DeviceID, _ loaded: LoadedInApp) throws -> OfferList {
        if device.hasBytes(of: loaded.rows.state.device.id) { return loaded.offers }
        return OfferList(numbers: try inApp.offerNumbers(of: device))
    }

    /// The stored numbers of a device.
    mutating func numbers(of device: DeviceID, _ loaded: LoadedInApp) throws -> OfferNumbers {
        try list(of: device, loaded).numbers
    }

    /// Writes the list of a device whose row does not change otherwise. A device without a row gets one.
    mutating func put(_ numbers: OfferNumbers, of device: DeviceID) throws {
        let statement = try inApp.statements(.putDeviceOffers, in: db)
        try statement.run { row in
            row.bind(numbers.text)
            row.bind(device)
        }
        guard statement.changes == 0 else { return }
        try inApp.statements(.putDevice, in: db).run { row in
            DeviceRow.bind(DeviceState(id: device), ledger: nil, offers: numbers, &row)
            row.bind(Instant?.none)
            // Seen long ago, for upkeep.
            row.bind(0)
            row.bind(device)
        }
    }

    /// Removes all offers of a device, with their list.
    mutating func removeOffers(of device: DeviceID) throws {
        for number in try inApp.offerNumbers(of: device).all {
            try inApp.statements(.removeOffer, in: db).run { $0.bind(number) }
        }
        try put(OfferNumbers(), of: device)
    }
}
