import Foundation
package import PushCore
package import PushPolicy

/// Users, devices and tokens in memory: 0.3 KB for a user with a device and a token.
///
/// Records of a fixed size refer to each other by number, and ``HashIndex`` finds them by key. No change moves more
/// than a fraction of the tables, because pushes are delayed during a move.
package struct RegistrationTables: Sendable {
  /// The preferences of users without their own, which most users are.
  private static let noChoices = Preferences()
  private static let none = UInt32.max

  /// Preferences that several users may share.
  package final class SharedPreferences: Sendable {
    let preferences: Preferences
    package init(_ preferences: Preferences) { self.preferences = preferences }
  }

  private struct PersonRecord: Sendable {
    var row: Int64
    var name: String
    /// The preferences; nil: the defaults.
    var choices: SharedPreferences?
    /// The newest of the user's devices, each of which refers to the previous one by `next`.
    var device = RegistrationTables.none
  }

  private struct DeviceRecord: Sendable {
    var row: Int64
    var person: Int64
    var uuid: (UInt64, UInt64)
    var name: String
    var secret: Digest32?
    /// The time of the last connection, in seconds since 1970; negative: never.
    var lastSeen: Int64
    /// The next of the user's devices.
    var next = RegistrationTables.none
    /// The newest of the device's tokens, each of which refers to the previous one by `next`.
    var token = RegistrationTables.none
    var role: Role
    /// True if the UUID has another form than a gateway writes; it is then stored in ``otherUUIDs``.
    var hasOtherUUID = false
  }

  private struct TokenRecord: Sendable {
    var token: DeviceToken
    var device: Int64
    var app: Int64
    var times: (unregistered: Int64, expires: Int64)
    var next = RegistrationTables.none
    var environment: Environment
    /// True if the times are set: no value of a time means that there is none.
    var (isUnregistered, isLimited) = (false, false)
  }

  /// The SHA-256 hash of a secret.
  private struct Digest32: Equatable, Sendable {
    var words: (UInt64, UInt64, UInt64, UInt64)

    init?(_ bytes: some Collection<UInt8>) {
      guard bytes.count == 32 else { return nil }
      var iterator = bytes.makeIterator()
      func word() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(iterator.next() ?? 0) } }
      words = (word(), word(), word(), word())
    }

    static func == (one: Digest32, other: Digest32) -> Bool { one.words == other.words }
  }

  private var persons = Slab<PersonRecord>()
  private var personsByRow = HashIndex()
  private var personsByName = HashIndex()
  private var devices = Slab<DeviceRecord>()
  private var devicesByRow = HashIndex()
  private var devicesByName = HashIndex()
  private var devicesBySecret = HashIndex()
  private var otherUUIDs: [Int64: String] = [:]
  private var tokens = Slab<TokenRecord>()
  private var tokensByBytes = HashIndex()

  package init() {}

  // MARK: Users

  package func person(_ id: PersonID) -> Person? { place(of: id).flatMap { persons[$0].map(person) } }

  package func person(named name: String) -> Person? {
    personsByName.find(RegistrationTables.hash(of: name)) { persons[$0]?.name == name }.flatMap {
      persons[$0].map(person)
    }
  }

  package func preferences(of person: PersonID) -> Preferences? {
    place(of: person).map { persons[$0]?.choices?.preferences ?? RegistrationTables.noChoices }
  }

  /// Adds a user, who must not be in the tables yet.
  ///
  /// - Parameter choices: the preferences; nil: the defaults.
  package mutating func add(_ id: PersonID, name: String, choices: SharedPreferences?) {
    let place = persons.add(PersonRecord(row: id.row, name: name, choices: choices))
    personsByRow.insert(place, hash: HashIndex.hash(of: id.row))
    personsByName.insert(place, hash: RegistrationTables.hash(of: name))
  }

  package mutating func set(_ preferences: Preferences, of person: PersonID) {
    guard let place = place(of: person) else { return }
    persons[place]?.choices = preferences == RegistrationTables.noChoices ? nil : SharedPreferences(preferences)
  }

  package mutating func rename(_ person: PersonID, to name: String) {
    guard let place = place(of: person), let before = persons[place]?.name else { return }
    personsByName.remove(place, hash: RegistrationTables.hash(of: before))
    persons[place]?.name = name
    personsByName.insert(place, hash: RegistrationTables.hash(of: name))
  }

  package mutating func remove(_ person: PersonID) {
    guard let place = place(of: person), let record = persons[place] else { return }
    personsByRow.remove(place, hash: HashIndex.hash(of: person.row))
    personsByName.remove(place, hash: RegistrationTables.hash(of: record.name))
    persons.remove(place)
  }

  private func person(_ record: PersonRecord) -> Person {
    Person(
      id: PersonID(row: record.row), name: record.name,
      preferences: record.choices?.preferences ?? RegistrationTables.noChoices)
  }

  private func place(of person: PersonID) -> Int? {
    personsByRow.find(HashIndex.hash(of: person.row)) { persons[$0]?.row == person.row }
  }

  // MARK: Devices

  package func device(_ id: DeviceID) -> Device? { place(of: id).flatMap { devices[$0].map(device) } }

  package func device(named name: String) -> Device? {
    devicesByName.find(RegistrationTables.hash(of: name)) { devices[$0]?.name == name }.flatMap {
      devices[$0].map(device)
    }
  }

  /// Returns the device whose secret has this hash.
  package func device(secretHash: [UInt8]) -> Device? {
    guard let secret = Digest32(secretHash) else { return nil }
    return devicesBySecret.find(secret.words.0) { devices[$0]?.secret == secret }.flatMap { devices[$0].map(device) }
  }

  /// Returns the user who owns a device.
  package func owner(of device: DeviceID) -> PersonID? {
    place(of: device).flatMap { devices[$0].map { PersonID(row: $0.person) } }
  }

  /// Returns the user's devices, in the order in which they were added.
  package func devices(of person: PersonID) -> [DeviceID] {
    guard let place = place(of: person), var next = persons[place]?.device else { return [] }
    var found: [DeviceID] = []
    while next != RegistrationTables.none, let record = devices[Int(next)] {
      found.append(DeviceID(row: record.row))
      next = record.next
    }
    return found.reversed()
  }

  /// Returns a device, the name of its user, and all its registrations, including ended ones.
  package func listed(_ id: DeviceID) -> (device: Device, person: String, registrations: [Registration])? {
    guard let place = place(of: id), let record = devices[place] else { return nil }
    let person = self.place(of: PersonID(row: record.person)).flatMap { persons[$0]?.name } ?? ""
    return (device(record), person, registrations(from: record.token))
  }

  /// Adds a device, which must not be in the tables yet, to its user's devices.
  package mutating func add(_ device: Device, secretHash: some Collection<UInt8>) {
    let (uuid, secret) = (RegistrationTables.words(ofUUID: device.uuid), Digest32(secretHash))
    let isOther = uuid == nil
    if isOther { otherUUIDs[device.id.row] = device.uuid }
    let words = uuid ?? (0, 0)
    var record = DeviceRecord(
      row: device.id.row, person: device.person.row, uuid: words, name: device.name, secret: secret,
      lastSeen: device.lastSeen ?? -1, role: device.role, hasOtherUUID: isOther)
    let owner = place(of: device.person)
    record.next = owner.flatMap { persons[$0]?.device } ?? RegistrationTables.none
    let place = devices.add(record)
    if let owner { persons[owner]?.device = UInt32(place) }
    devicesByRow.insert(place, hash: HashIndex.hash(of: device.id.row))
    devicesByName.insert(place, hash: RegistrationTables.hash(of: device.name))
    if let secret { devicesBySecret.insert(place, hash: secret.words.0) }
  }

  package mutating func set(secretHash: [UInt8], of device: DeviceID) {
    guard let place = place(of: device) else { return }
    if let before = devices[place]?.secret { devicesBySecret.remove(place, hash: before.words.0) }
    let secret = Digest32(secretHash)
    devices[place]?.secret = secret
    if let secret { devicesBySecret.insert(place, hash: secret.words.0) }
  }

  package mutating func set(lastSeen: Int64, of device: DeviceID) {
    guard let place = place(of: device) else { return }
    devices[place]?.lastSeen = lastSeen
  }

  /// Removes a device with its secret.
  ///
  /// - Returns: its tokens, which stay in the tables.
  @discardableResult
  package mutating func remove(_ device: DeviceID) -> [DeviceToken] {
    guard let place = place(of: device), let record = devices[place] else { return [] }
    let tokens = tokenPlaces(from: record.token).compactMap { self.tokens[$0]?.token }
    devicesByRow.remove(place, hash: HashIndex.hash(of: device.row))
    devicesByName.remove(place, hash: RegistrationTables.hash(of: record.name))
    if let secret = record.secret { devicesBySecret.remove(place, hash: secret.words.0) }
    if record.hasOtherUUID { otherUUIDs[device.row] = nil }
    unlink(place, next: record.next, from: PersonID(row: record.person))
    devices.remove(place)
    return tokens
  }

  private mutating func unlink(_ place: Int, next: UInt32, from person: PersonID) {
    guard let owner = self.place(of: person), var one = persons[owner]?.device else { return }
    guard one != place else {
      persons[owner]?.device = next
      return
    }
    while one != RegistrationTables.none, let record = devices[Int(one)] {
      if record.next == place {
        devices[Int(one)]?.next = next
        return
      }
      one = record.next
    }
  }

  /// Reads up to `limit` devices in no order and advances `next`, at most to ``deviceEnd``.
  package func devices(from next: inout Int, limit: Int) -> [Device] {
    let end = min(devices.end, next + limit)
    defer { next = max(next, end) }
    return next < end ? (next..<end).compactMap { devices[$0].map(device) } : []
  }

  /// Reads up to `limit` users in no order and advances `next`, at most to ``personEnd``.
  package func persons(from next: inout Int, limit: Int) -> [Person] {
    let end = min(persons.end, next + limit)
    defer { next = max(next, end) }
    return next < end ? (next..<end).compactMap { persons[$0].map(person) } : []
  }

  /// The position at which ``devices(from:limit:)`` ends.
  package var deviceEnd: Int { devices.end }

  /// The position at which ``persons(from:limit:)`` ends.
  package var personEnd: Int { persons.end }

  private func device(_ record: DeviceRecord) -> Device {
    let uuid = record.hasOtherUUID ? otherUUIDs[record.row] ?? "" : RegistrationTables.text(ofUUID: record.uuid)
    return Device(
      id: DeviceID(row: record.row), uuid: uuid, name: record.name, person: PersonID(row: record.person),
      role: record.role, lastSeen: record.lastSeen < 0 ? nil : record.lastSeen)
  }

  // Foundation's own conversion in both directions took a third of a start, and a sixth of a list.

  /// Returns a UUID in capital letters.
  private static func text(ofUUID words: (UInt64, UInt64)) -> String {
    unsafe String(unsafeUninitializedCapacity: 36) { text in
      var place = 0
      for word in [words.0.bigEndian, words.1.bigEndian] {
        for shift in stride(from: 60, through: 0, by: -4) {
          if place == 8 || place == 13 || place == 18 || place == 23 {
            unsafe text[place] = UInt8(ascii: "-")
            place += 1
          }
          let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift) & 15)
          unsafe text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
          place += 1
        }
      }
      return place
    }
  }

  /// Returns the bytes of a UUID in capital letters, which is every device's form; nil for any other text.
  private static func words(ofUUID text: String) -> (UInt64, UInt64)? {
    var words: (UInt64, UInt64) = (0, 0)
    var (place, digits) = (0, 0)
    for byte in text.utf8 {
      defer { place += 1 }
      if place == 8 || place == 13 || place == 18 || place == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      let value: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      guard digits < 32 else { return nil }
      if digits < 16 { words.0 = words.0 << 4 | UInt64(value) } else { words.1 = words.1 << 4 | UInt64(value) }
      digits += 1
    }
    guard place == 36, digits == 32 else { return nil }
    return (words.0.bigEndian, words.1.bigEndian)
  }

  private func place(of device: DeviceID) -> Int? {
    devicesByRow.find(HashIndex.hash(of: device.row)) { devices[$0]?.row == device.row }
  }

  // MARK: Tokens

  package func registration(_ token: DeviceToken) -> Registration? {
    place(of: token).flatMap { tokens[$0].map(RegistrationTables.registration) }
  }

  /// Returns all registrations of a device, including ended ones, in the order in which they were made.
  package func registrations(of device: DeviceID) -> [Registration] {
    guard let place = place(of: device), let first = devices[place]?.token else { return [] }
    return registrations(from: first)
  }

  private func registrations(from first: UInt32) -> [Registration] {
    tokenPlaces(from: first).reversed().compactMap { tokens[$0].map(RegistrationTables.registration) }
  }

  /// Adds a token, which must not be in the tables yet.
  ///
  /// - Parameter isLinked: true if its device is in the tables and the token is added to the device's list.
  package mutating func add(_ registration: Registration, isLinked: Bool = true) {
    let place = tokens.add(
      TokenRecord(
        token: registration.token, device: registration.device.row, app: registration.app.row,
        times: (registration.unregistered ?? 0, registration.expires ?? 0), environment: registration.environment,
        isUnregistered: registration.unregistered != nil, isLimited: registration.expires != nil))
    tokensByBytes.insert(place, hash: registration.token.hash)
    if isLinked { link(place, to: registration.device) }
  }

  package mutating func set(unregistered: Int64, of token: DeviceToken) {
    guard let place = place(of: token) else { return }
    tokens[place]?.times.unregistered = unregistered
    tokens[place]?.isUnregistered = true
  }

  /// Removes a token.
  package mutating func remove(_ token: DeviceToken) {
    guard let place = place(of: token), let record = tokens[place] else { return }
    tokensByBytes.remove(place, hash: token.hash)
    if let owner = self.place(of: DeviceID(row: record.device)), let first = devices[owner]?.token {
      if first == place {
        devices[owner]?.token = record.next
      } else if let before = tokenPlaces(from: first).first(where: { tokens[$0]?.next == UInt32(place) }) {
        tokens[before]?.next = record.next
      }
    }
    tokens.remove(place)
  }

  private mutating func link(_ place: Int, to device: DeviceID) {
    guard let owner = self.place(of: device), let first = devices[owner]?.token else { return }
    tokens[place]?.next = first
    devices[owner]?.token = UInt32(place)
  }

  private func tokenPlaces(from first: UInt32) -> [Int] {
    var (places, next): ([Int], UInt32) = ([], first)
    while next != RegistrationTables.none, let record = tokens[Int(next)] {
      places.append(Int(next))
      next = record.next
    }
    return places
  }

  private static func registration(_ record: TokenRecord) -> Registration {
    Registration(
      token: record.token, device: DeviceID(row: record.device), app: AppID(row: record.app),
      environment: record.environment, unregistered: record.isUnregistered ? record.times.unregistered : nil,
      expires: record.isLimited ? record.times.expires : nil)
  }

  private func place(of token: DeviceToken) -> Int? {
    tokensByBytes.find(token.hash) { tokens[$0]?.token == token }
  }

  // MARK: Loading at start

  /// Reserves memory for numbers of records.
  package mutating func reserve(persons: Int = 0, devices: Int = 0, tokens: Int = 0) {
    personsByRow.reserve(persons)
    personsByName.reserve(persons)
    devicesByRow.reserve(devices)
    devicesByName.reserve(devices)
    devicesBySecret.reserve(devices)
    tokensByBytes.reserve(tokens)
  }

  /// Moves the tokens of other tables here and links them to the devices of these tables. The other tables contain only
  /// tokens, and are empty afterwards; nothing is copied.
  package mutating func take(tokensOf other: inout RegistrationTables) {
    swap(&tokens, &other.tokens)
    swap(&tokensByBytes, &other.tokensByBytes)
    for place in 0..<tokens.end {
      // Tokens of removed devices are linked to no device.
      if let record = tokens[place] { link(place, to: DeviceID(row: record.device)) }
    }
  }

  private static func hash(of name: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(name)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
